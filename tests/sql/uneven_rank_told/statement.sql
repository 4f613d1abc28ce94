SELECT severity, rank, pid, device, heap, level, site, verdict, basis, bytes, count, text FROM finding WHERE kind = 'uneven rank';
