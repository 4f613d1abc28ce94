SELECT kind, severity, pid, device, heap, site, verdict, basis, value, bytes, count, text FROM finding WHERE kind IN ('pending memory', 'idle streams', 'object leak', 'host growth');
