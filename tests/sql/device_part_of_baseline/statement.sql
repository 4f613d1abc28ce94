SELECT seq, part, bytes FROM device_part WHERE moment_kind = 'device peak' AND heap = 'pool';
