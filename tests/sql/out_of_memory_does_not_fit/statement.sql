SELECT verdict, outcome, explanation FROM out_of_memory
