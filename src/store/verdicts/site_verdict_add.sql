-- site_verdict_add.sql: what is said of a site.
INSERT INTO z_site_verdict (heap_id, site_frame_id, verdict, reason, growth_bytes)
VALUES (:heap_id, :site_frame_id, :verdict, :reason, :growth_value);
