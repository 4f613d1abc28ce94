-- 'peak' (of this heap), 'reserve' (of this pool), 'end', 'failure', or the text of the mark.
moment,
-- What kind of moment it is: 'peak', 'reserve', 'end', 'mark', 'failure'.
moment_kind,
-- Number of the moment.
moment_id,
-- Place in the order of events. NULL: before the first event.
seq,
-- When. Unit: nanoseconds since the recording began. NULL: not known.
ns,
