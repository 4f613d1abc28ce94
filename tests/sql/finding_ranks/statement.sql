SELECT kind, severity, device, site, verdict, basis, value, bytes, count, text FROM finding WHERE kind = 'shared device';
