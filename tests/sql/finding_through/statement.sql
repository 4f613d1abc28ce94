SELECT severity, kind, site, through, bytes, count, json_extract(evidence, '$[1]') AS parted FROM finding WHERE kind = 'leak' ORDER BY site
