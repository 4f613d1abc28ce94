-- made_of.sql: the input of a database that was made of one.
SELECT path
FROM input
WHERE (SELECT count(*) FROM input) = 1;
