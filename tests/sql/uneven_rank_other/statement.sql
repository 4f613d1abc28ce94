SELECT rank, site, verdict, bytes, count FROM finding WHERE kind = 'uneven rank';
