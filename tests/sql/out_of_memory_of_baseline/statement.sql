SELECT * FROM z_out_of_memory_site;
