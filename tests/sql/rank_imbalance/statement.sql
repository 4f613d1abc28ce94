SELECT host, rank, pid, device, heap, level, site, rank_count, absent_count, max_bytes, max_rank, min_bytes, min_rank, mean_bytes,
    spread_bytes, CAST(imbalance_ratio * 1000 AS INTEGER) AS ratio_thousandths, max_count, is_partial
FROM rank_imbalance
