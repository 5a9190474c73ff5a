-- The English encoder that came with earlier versions is gone: where it is in use, words answer alone
-- until the one that comes now has read the documents. Its vectors go with the next that are complete.
DELETE FROM encoder WHERE fingerprint LIKE 'chapterhouse-encoder-1/%';
