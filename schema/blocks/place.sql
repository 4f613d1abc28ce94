-- begin process
-- Number of the device. NULL: host memory.
device,
-- Name of the heap.
heap,
-- Level of the heap.
level,
