-- whatif_devices.sql: devices.
SELECT
    device_id,
    ordinal,
    physical_ordinal,
    kind,
    capacity_bytes
FROM device;
