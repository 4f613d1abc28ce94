coalesce(nullif(upper($1), 'DEVICE'), 'device') || ' ' || $2
