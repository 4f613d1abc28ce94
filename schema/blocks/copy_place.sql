-- begin process
-- Number of the device that is written, or else read. NULL: host memory on both sides, or not known.
device,
-- Always NULL: a copy is not of one heap.
heap,
-- Always NULL: a copy is not of one level.
level,
