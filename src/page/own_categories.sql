-- own_categories.sql: categories that are the program's own words.
SELECT category_id
FROM z_category
WHERE name = 'other';
