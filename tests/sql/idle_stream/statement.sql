SELECT heap, stream, last_seq FROM z_idle_stream;
