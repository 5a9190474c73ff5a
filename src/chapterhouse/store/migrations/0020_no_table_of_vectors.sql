-- The table of token vectors that came with earlier versions is gone: where it is in use, words answer
-- alone until an encoder has read the documents. Its vectors go with the next that are complete.
DELETE FROM encoder WHERE fingerprint LIKE 'wordllama-%';
