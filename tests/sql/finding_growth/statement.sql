SELECT severity, device, heap, level, verdict, bytes, text FROM finding WHERE kind = 'cache growth';
