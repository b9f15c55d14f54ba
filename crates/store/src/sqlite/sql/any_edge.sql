-- Whether any job ever had a parent, of those that are here. Where none had, nothing needs to be forgotten.
SELECT EXISTS (SELECT 1 FROM edge);
