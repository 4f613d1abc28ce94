SELECT moment, component, part, bytes FROM device_part WHERE moment = 'cut';
