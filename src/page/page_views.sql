-- page_views.sql: the views of a database, each with the question that it answers.
SELECT
    name,
    question
FROM catalog
WHERE kind = 'view';
