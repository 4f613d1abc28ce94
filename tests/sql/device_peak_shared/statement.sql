SELECT device, peak_bytes, capacity_bytes, holder_count FROM device_peak;
