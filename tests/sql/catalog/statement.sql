SELECT name, kind, question, rows, is_large FROM catalog WHERE name IN ('peak', 'completeness', 'allocation', 'allocation_detail', 'heap_level', 'step') ORDER BY kind DESC
