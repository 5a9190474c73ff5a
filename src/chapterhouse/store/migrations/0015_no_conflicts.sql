-- Where sources disagree is no longer guessed, so it is not counted.
ALTER TABLE question DROP COLUMN conflicts;
ALTER TABLE question_document DROP COLUMN disagrees;
