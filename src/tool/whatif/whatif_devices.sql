-- whatif_devices.sql: devices.
SELECT
    device_id,
    ordinal,
    kind,
    capacity_bytes
FROM device;
