SELECT severity, kind, reason, pid, device, heap, site, bytes, count FROM finding WHERE kind IN ('leak', 'suspect') ORDER BY kind, site
