SELECT pid, heap, level, verdict, bytes, text FROM finding WHERE kind = 'cache growth'
