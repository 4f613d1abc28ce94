-- rising_say.sql: a site of a server that rises.
UPDATE z_site_verdict
SET verdict = 'rising', reason = 'it rises', hourly_bytes = :hourly_value
WHERE rowid = :verdict_id;
