SELECT count(DISTINCT rank) AS rank_count, (SELECT count(*) FROM finding WHERE kind = 'uneven rank') AS uneven_count FROM process;
