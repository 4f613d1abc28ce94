WHEN frame.file IS NULL AND frame.module IS NULL THEN ''
WHEN frame.file IS NULL
    THEN substr(frame.module, length(rtrim(frame.module, replace(frame.module, '/', ''))) + 1)
WHEN instr(frame.file, 'site-packages/') > 0
    THEN substr(frame.file, instr(frame.file, 'site-packages/') + 14)
WHEN instr(frame.file, 'dist-packages/') > 0
    THEN substr(frame.file, instr(frame.file, 'dist-packages/') + 14)
ELSE substr(frame.file, length(rtrim(frame.file, replace(frame.file, '/', ''))) + 1)
