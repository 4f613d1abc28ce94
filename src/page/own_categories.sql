-- own_categories.sql: categories that are the program's own words.
SELECT category_id
FROM _category
WHERE name = 'other';
