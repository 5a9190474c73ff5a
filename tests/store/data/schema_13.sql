
-- The values of various per-database settings
PRAGMA page_size=4096;
-- PRAGMA encoding='UTF-8';
-- PRAGMA auto_vacuum=NONE;
-- PRAGMA max_page_count=4294967294;

-- This pragma is needed to restore virtual tables
PRAGMA writable_schema=ON;

BEGIN TRANSACTION;

-- Table  body
DROP TABLE IF EXISTS body;
CREATE TABLE body (
  document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;
INSERT INTO body VALUES(1,'# Harbour rules

The ferry leaves at 06:40 on weekdays and carries at most 32 vehicles.

## Fees

A car under five metres pays 14.50 euros. Bicycles travel free of charge.');
INSERT INTO body VALUES(2,'Minutes of 12 March 2024. The treasurer Ines Varga reported a balance of 48,210 euros.
The repair of the quay was postponed until the autumn.');
INSERT INTO body VALUES(3,'# Budget of 2025

The dredging of the basin is budgeted at 12,000 euros.');

-- Table  cached_answer
DROP TABLE IF EXISTS cached_answer;
CREATE TABLE cached_answer (
  key TEXT PRIMARY KEY,    -- SHA-256
  sequence INTEGER NOT NULL,
  answer TEXT NOT NULL     -- JSON
) STRICT, WITHOUT ROWID;
-- Triggers and indices on  cached_answer
CREATE INDEX cached_answer_sequence ON cached_answer (sequence);

-- Table  checksum
DROP TABLE IF EXISTS checksum;
CREATE TABLE checksum (
  document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
  shelves TEXT NOT NULL,     -- JSON: sorted; once more, to restore lost memberships from
  rows_sha256 TEXT NOT NULL  -- of document, shelves, sections, pages and chunks
) STRICT;
INSERT INTO checksum VALUES(1,'["library"]','d135ec1daed7daca52df55916d9e923292d8ba683269c64a9f64e1e3c2b0872d');
INSERT INTO checksum VALUES(2,'["library"]','ab22e37501fb0db705aeac8efe6ab076c4e359efca3b58658e9f43d05f3a2c24');
INSERT INTO checksum VALUES(3,'["treasurer"]','a40ee6710fbdee09be6c74fc545f83ed9b9a086e373776120f311caa631840bf');

-- Table  chunk
DROP TABLE IF EXISTS chunk;
CREATE TABLE chunk (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  text TEXT NOT NULL,
  kind TEXT NOT NULL,
  header TEXT NOT NULL,
  section_path TEXT NOT NULL,  -- JSON: titles, outermost first
  page INTEGER,
  page_label TEXT NOT NULL,
  tokens INTEGER NOT NULL, parents TEXT NOT NULL DEFAULT '[]',
  UNIQUE (document, ordinal)
) STRICT;
INSERT INTO chunk VALUES(1,1,0,0,171,'# Harbour rules

The ferry leaves at 06:40 on weekdays and carries at most 32 vehicles.

## Fees

A car under five metres pays 14.50 euros. Bicycles travel free of charge.','prose','','["Harbour rules"]',NULL,'',55,'[]');
INSERT INTO chunk VALUES(2,2,0,0,141,'Minutes of 12 March 2024. The treasurer Ines Varga reported a balance of 48,210 euros.
The repair of the quay was postponed until the autumn.','prose','','[]',NULL,'',45,'[]');
INSERT INTO chunk VALUES(3,3,0,0,72,'# Budget of 2025

The dredging of the basin is budgeted at 12,000 euros.','prose','','["Budget of 2025"]',NULL,'',29,'[]');

-- Table  content
DROP TABLE IF EXISTS content;
CREATE TABLE content (
  sha256 TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
INSERT INTO content VALUES('3fb52413bba01f22a22800b94a0603d862a472f4a9a6131795f68726efd2e822',X'2320486172626F75722072756C65730A0A546865206665727279206C65617665732061742030363A3430206F6E207765656B6461797320616E642063617272696573206174206D6F73742033322076656869636C65732E0A0A232320466565730A0A412063617220756E6465722066697665206D657472657320706179732031342E3530206575726F732E2042696379636C65732074726176656C2066726565206F66206368617267652E0A');
INSERT INTO content VALUES('a0b8795346669051244f9e177e1c75dec1304dd48050748728752ad411eef84e',X'4D696E75746573206F66203132204D6172636820323032342E205468652074726561737572657220496E6573205661726761207265706F7274656420612062616C616E6365206F662034382C323130206575726F732E0A54686520726570616972206F662074686520717561792077617320706F7374706F6E656420756E74696C2074686520617574756D6E2E0A');
INSERT INTO content VALUES('cbc1d03e3dba8f1eb5def6a664dc9f444685c5e418215c53274e1ba1105dbeba',X'2320427564676574206F6620323032350A0A546865206472656467696E67206F662074686520626173696E2069732062756467657465642061742031322C303030206575726F732E0A');

-- Table  counter
DROP TABLE IF EXISTS counter;
CREATE TABLE counter (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL
, embedding INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO counter VALUES(1,3,0);

-- Table  document
DROP TABLE IF EXISTS document;
CREATE TABLE document (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  location TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  format TEXT NOT NULL,
  method TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  text_sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  status TEXT NOT NULL,
  page_kind TEXT NOT NULL,
  language TEXT NOT NULL,
  notices TEXT NOT NULL,   -- JSON: [[code, sentence, page], ...]
  metadata TEXT NOT NULL,  -- JSON: {name: value}
  characters INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  sequence INTEGER NOT NULL UNIQUE  -- its latest change
, ingested INTEGER NOT NULL DEFAULT 0, cut_by TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO document VALUES(1,'harbour-043440cb','shelf/harbour.md','/tmp/papers/shelf/harbour.md','Harbour rules','md','Python 3.11.7','3fb52413bba01f22a22800b94a0603d862a472f4a9a6131795f68726efd2e822','af8f5a39d3848ce6347b645dafd52698e891c6647d7302e41feac494f55a1178',172,1795951127,'ready','','en','[]','{}',171,1,1,1795951250,'hierarchical-fda3e2c9c2');
INSERT INTO document VALUES(2,'ledger-615d37ac','shelf/ledger.txt','/tmp/papers/shelf/ledger.txt','ledger','txt','Python 3.11.7','a0b8795346669051244f9e177e1c75dec1304dd48050748728752ad411eef84e','699d5d7e754b0e56ab1365faa49c63326652017ff031dc5bc2017d19ab98a4c6',142,1795951127,'ready','','en','[]','{}',141,1,2,1795951250,'hierarchical-fda3e2c9c2');
INSERT INTO document VALUES(3,'budget-04e92304','budget/budget.md','/tmp/papers/budget/budget.md','Budget of 2025','md','Python 3.11.7','cbc1d03e3dba8f1eb5def6a664dc9f444685c5e418215c53274e1ba1105dbeba','ba5fbf569e8b6b9f718156afff8a8455b87fc29c4d41f8a25660b21f4d70d422',73,1795951162,'ready','','en','[]','{}',72,1,3,1795951269,'hierarchical-fda3e2c9c2');
-- Triggers and indices on  document
CREATE INDEX document_census ON document (language, chunks);
CREATE INDEX document_file_name ON document (
  lower(substr(source, length(rtrim(source, replace(source, '/', ''))) + 1))
);
CREATE INDEX document_sha256 ON document (sha256);

-- Table  embedding
DROP TABLE IF EXISTS embedding;
CREATE TABLE embedding (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  fingerprint TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  vectors BLOB NOT NULL, sequence INTEGER NOT NULL DEFAULT 0,  -- little-endian float16, one row a chunk in order of ordinal
  PRIMARY KEY (document, fingerprint)
) STRICT;
INSERT INTO embedding VALUES(1,'wordllama-l2-supercat-256/lower/sqrt-idf-1',256,X'B4B015A690AE6A2EE6AAF3AA8AA9CD2C712A54A04F1766983A2CA1A627AD26AF152EE8AF532D583368ABA79B20256028C42D6EAA00247AA421ADCD331AA6CEA9C71E252C89AEFCAC0E2F07AF392CA52A5E2CDE2B5EA718AD8F9E6EACE0A9799FF89D27245A20E89A7DACC01B6AB04F2C4430699C2C2E05ACD127A89DAAAA659D0FA8B7A56EA4FC2131ABDE2B67AC0C25459E25A6F429092C5222692315A80A29872511A514AD7A1FF1994AA3552A221EEC2DD42C32AFA8AC2AAEE4A0B6A6919EFBAA622EC922152E43A6A82B45AB0530192DA22844ABD5A613A6BA2F4C307D973E2E7A2814A81C26E7A87AA0371A5623BE28F0268D288DAD58A777A7282051A8B3AC6BA984A7B5AF242A7A27472B10AC6BA53BAA61B06E26A2ADBEA02E2A171D59A8ECA5A42240A5A7A8232B28908B9F68ACD6AAE7248619B2A3A72949A2A19AF32916ACA0AC0C2E1A2910AEABA81BB04A2E4CAB07A3D2AA381C8624A5294830F922042C16A6F4AD86309DAFEF0CEC9E25A715AF462D6714A52DFCADC32DD0A737A815AD3FA10DACD720FBA266A98AA4502518A951AA22A55BA161297F269CA928A21C29C29F2AAAB5A417A65EAF41222AAA0621AC2D3026F8A4A215C321F49C302969ABF12A18AC2B2C2727632C8E21A32536A1662D65270B231B2DB5A85DAEB62701A23BAC39A5561DB3A624B0F32B492C542892233B2FE6A806A98C242D2D',0);
INSERT INTO embedding VALUES(2,'wordllama-l2-supercat-256/lower/sqrt-idf-1',256,X'072F25AC5EA6752A3DA8C8AB65AAEE259F272530A09F4E2A9799E7A844A463B0392B84AB5C20282E679E062C02257EAA7CAA832CA721842A86B01827E4A427250830D22D02191C2C00316B2F5029543054AD17A6D12550263C2ECEABB0289BAEABABB6AEAE2C4A2A9DA580AE362B5BA299ACF82711ACB62CD3253E29902E9C247A29DDAFBC2B7724B3228A22CEA81A9FC2A0D7A94C28DC2DBDA3792C6A2801AD522BED2E79AD252734A44C2C9A24862A32AE89A85DAB349EF2A9EF9D2DA5F1A82AA6792C02AC062C42A95C0F452AE6A704ACBA2E75A6EBAC182BCDAB0FA866AC192712AEAFA5E92C4BADCFAEB5A57C2C4722FFA66F2FBCAC09A6A2A3E6A950AB2BB0372EFA2D0528E3AA55A863AEECA64CAD812A4EA481A880A917AF019DD228F1A2E12615ABE126F6AA97AE61A59F2487A9A621AD274EA824270D1A2F945C2BDF1D792BE4ADB62D21260B146B29332CED2A24AD4C319624B1AC71A80EA8A62D8CACB9A6B9A9B1A9772DAEA65624C12EE11A47A827308DA2A6A465AA9229C92FFFA9B5B10CA781AD3B2AE39F64A8E024072EAB95641ECBB07E9C2DA452241D911997929D8EAE36A744A408A966275D187D22352F3CA8E52A88AC5F104B1CE8AC1114CB25FB231FAD7CA9A229B52A6E9F4A9E162F90A19DA57F22E5A739A9A529BBA62F3010AA3A2C23B0CD2AB2A4A7AE8EADEC9FFBA71B2AA6298AA1E7A9662D',0);
INSERT INTO embedding VALUES(3,'wordllama-l2-supercat-256/lower/sqrt-idf-1',256,X'E02C68AC952CC81EE9ADD1AE099F6132C622FD26C0AF482C3B229620351421ADBB1516B16FAA5D1A8DB077AC8F297F9E5128382BEE2A4BAF702CCF258C993C2E92295F9B1AB15128DD1FDB15C0242A204B29C4281A9B5F2C9D2E71B20F2AD2AD77A83C2409A9821D8D2733A9ABAEEC2D6A2FC0281FA429ADEA2C0E9C6DAC2C2AE12ED7AC0EA7DE302423ECA6972F212CBBA448A94F2B02AC3D2B712EE925D124252A282FD31DF6207FA94825FCA0272BFF90C7B048254A25D3AE96A676A9D42865A6202D1F2A169497960021402F348B2DA277ABD1A8C6A85830E427D825BCA182A80724F92FD727D7A400A9D0A411290AA95AAC4F2FC9240EA90BA18426C7227998842D322FD12D5EA9C2AE0A2963A419A9139C819D85292DAEE49A772460A92B2D3EACBAA7089E47A82EAA27A0F7ACD0AC9A2A6D217225ACAD1AACE5ABEE27C7A663AD6D2A5230EEA6782EB528F1ACACABA4A2B72ECF27082D622E18AE3529A22A0AA74E2B9CA030259E140EA7BCA9192051AD6C99912B1026BAA1051CE2A8B22F18ABE8AB99A8AA2A9A2BF2A2EEAA76AB61AC40A854A89BAC602ECEA7951F6FA806AB72A642293E2851224AA98C23C39C061C6C1E0D2A11256E2A8A2D9BAC0AAD3728CBA95B0FEC2E1B2864AC772F289CF4243FA8422FF52AF32C792B85A254233FB090A9EB1393A90E291C9E1324E3AD9A98F8A89D2AE8A61C2BA5A469AC',0);
-- Triggers and indices on  embedding
CREATE INDEX embedding_fingerprint ON embedding (fingerprint, sequence, document);

-- Table  encoder
DROP TABLE IF EXISTS encoder;
CREATE TABLE encoder (
  role TEXT PRIMARY KEY CHECK (role IN ('active', 'previous', 'building')),
  fingerprint TEXT NOT NULL,
  settings TEXT NOT NULL,           -- JSON: the section [embedding] that opens it
  problem TEXT NOT NULL DEFAULT ''  -- why its vectors could not be made the last time
) STRICT, WITHOUT ROWID;
INSERT INTO encoder VALUES('building','chapterhouse-encoder-1/59686bb9f3fa6f31','{"engine": "built-in"}','');

-- Table  file
DROP TABLE IF EXISTS file;
CREATE TABLE file (
  location TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  sentence TEXT NOT NULL,
  document_id TEXT NOT NULL,
  format TEXT NOT NULL
, ctime_ns INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO file VALUES('/tmp/papers/budget/budget.md','budget/budget.md',73,1795951162012727440,'cbc1d03e3dba8f1eb5def6a664dc9f444685c5e418215c53274e1ba1105dbeba','ready','','','budget-04e92304','md',1795951162012727440,0);
INSERT INTO file VALUES('/tmp/papers/shelf/harbour.md','shelf/harbour.md',172,1795951127958417809,'3fb52413bba01f22a22800b94a0603d862a472f4a9a6131795f68726efd2e822','ready','','','harbour-043440cb','md',1795951127958417809,0);
INSERT INTO file VALUES('/tmp/papers/shelf/ledger.txt','shelf/ledger.txt',142,1795951127960407945,'a0b8795346669051244f9e177e1c75dec1304dd48050748728752ad411eef84e','ready','','','ledger-615d37ac','txt',1795951127960407945,0);

-- Table  job
DROP TABLE IF EXISTS job;
CREATE TABLE job (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  arguments TEXT NOT NULL,   -- JSON with keys in order: equal jobs have equal ones
  lane TEXT NOT NULL,
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'running', 'done', 'partial', 'failed', 'cancelled')
  ),
  attempts INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,  -- seconds
  started INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  claim INTEGER NOT NULL DEFAULT 0,  -- claims are numbered: which lane was served last
  lease_until REAL NOT NULL DEFAULT 0,  -- seconds
  worker TEXT NOT NULL DEFAULT '',
  cancelling INTEGER NOT NULL DEFAULT 0,
  progress TEXT NOT NULL DEFAULT '{}',  -- JSON
  result TEXT NOT NULL DEFAULT '{}',    -- JSON
  error TEXT NOT NULL DEFAULT '',
  hint TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO job VALUES(1,'add','{"paths": ["/tmp/papers/shelf"], "shelf": "library"}','/tmp/papers/shelf','done',1,1795951246,1795951246,1795951250,1,0.0,'vm_27408_f6d4d30b',0,'{"done": 2, "total": 2, "current": "shelf/ledger.txt", "in_flight": [], "remaining": null}','{"changed": 2, "counts": {"ready": 2}, "documents": ["harbour-043440cb", "ledger-615d37ac"], "files": 2, "missing": [], "problems": []}','','');
INSERT INTO job VALUES(2,'add','{"paths": ["/tmp/papers/shelf"], "shelf": "library"}','/tmp/papers/shelf','done',1,1795951287,1795951287,1795951287,2,0.0,'vm_30274_b9211560',0,'{"done": 2, "total": 2, "current": "shelf/ledger.txt", "in_flight": [], "remaining": null}','{"changed": 0, "counts": {"skipped": 2}, "documents": ["harbour-043440cb", "ledger-615d37ac"], "files": 2, "missing": [], "problems": []}','','');
-- Triggers and indices on  job
CREATE INDEX job_lane ON job (lane, claim);
CREATE INDEX job_state ON job (state, lane);

-- Table  membership
DROP TABLE IF EXISTS membership;
CREATE TABLE membership (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  shelf TEXT NOT NULL,
  PRIMARY KEY (document, shelf)
) STRICT, WITHOUT ROWID;
INSERT INTO membership VALUES(1,'library');
INSERT INTO membership VALUES(2,'library');
INSERT INTO membership VALUES(3,'treasurer');
-- Triggers and indices on  membership
CREATE INDEX membership_shelf ON membership (shelf, document);

-- Table  memory
DROP TABLE IF EXISTS memory;
CREATE TABLE memory (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  persona TEXT NOT NULL,   -- slug; empty for the library itself
  asked INTEGER NOT NULL,  -- seconds
  expires INTEGER NOT NULL,  -- seconds; 0: never
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  found INTEGER NOT NULL,
  method TEXT NOT NULL,
  sources TEXT NOT NULL,   -- JSON: ids of documents
  sequence INTEGER NOT NULL  -- of the library, when it was answered
, citations TEXT NOT NULL DEFAULT 'null') STRICT;
INSERT INTO memory VALUES(1,'',1795951258,1827487258,'When does the ferry leave on weekdays?','The ferry leaves at 06:40 on weekdays and carries at most 32 vehicles. [1]',1,'extractive','["harbour-043440cb"]',2,'[["harbour-043440cb", "shelf/harbour.md", "af8f5a39d3848ce6347b645dafd52698e891c6647d7302e41feac494f55a1178", 17, 87, "The ferry leaves at 06:40 on weekdays and carries at most 32 vehicles.", ""]]');
INSERT INTO memory VALUES(2,'treasurer',1795951277,1827487277,'What is budgeted for the dredging of the basin?','The dredging of the basin is budgeted at 12,000 euros. [1]',1,'extractive','["budget-04e92304"]',3,'[["budget-04e92304", "budget/budget.md", "ba5fbf569e8b6b9f718156afff8a8455b87fc29c4d41f8a25660b21f4d70d422", 18, 72, "The dredging of the basin is budgeted at 12,000 euros.", ""]]');
-- Triggers and indices on  memory
CREATE INDEX memory_expires ON memory (expires);
CREATE INDEX memory_persona ON memory (persona, key);

-- Table  memory_terms
DELETE FROM sqlite_schema WHERE name='memory_terms' AND type='table';
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES('table','memory_terms','memory_terms',0,'CREATE VIRTUAL TABLE memory_terms USING fts5 (
  question, answer, tokenize = "unicode61 remove_diacritics 0"
)');

-- Table  memory_terms_config
DROP TABLE IF EXISTS memory_terms_config;
CREATE TABLE 'memory_terms_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO memory_terms_config VALUES('secure-delete',1);
INSERT INTO memory_terms_config VALUES('version',4);

-- Table  memory_terms_content
DROP TABLE IF EXISTS memory_terms_content;
CREATE TABLE 'memory_terms_content'(id INTEGER PRIMARY KEY, c0, c1);
INSERT INTO memory_terms_content VALUES(1,'when doe the ferri leav on weekday','the ferri leav at 0640 06 40 on weekday and carri at most 32 vehicl 1');
INSERT INTO memory_terms_content VALUES(2,'what is budget for the dredg of the basin','the dredg of the basin is budget at 12000 12 000 euro 1');

-- Table  memory_terms_data
DROP TABLE IF EXISTS memory_terms_data;
CREATE TABLE 'memory_terms_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO memory_terms_data VALUES(1,X'02101D');
INSERT INTO memory_terms_data VALUES(10,X'000000010102020002010101020101');
INSERT INTO memory_terms_data VALUES(137438953473,X'000000B4033030360106010107030234300106010106010131010601011101023332010601010F0102343001060101080103616E64010601010B02017401080101050A01056361727269010601010C0103646F650102030105666572726901080501010301046C65617601080601010401046D6F7374010601010E01026F6E0108070101090103746865010804010102010676656869636C010601011001077765656B64617901080801010A020368656E0102020409090809090A090C080D0C0B0A0B0D0F');
INSERT INTO memory_terms_data VALUES(274877906945,X'000000950430303030020601010C010131020601010E020132020601010B0303303030020601010A0102617402060101090105626173696E02080A010106020575646765740208040101080105647265646702080701010301046575726F020601010D0103666F720202050102697302080301010701026F660208080101040103746865020C060501010205010477686174020202040A08080A090D0D0D0B080A0A0D');

-- Table  memory_terms_docsize
DROP TABLE IF EXISTS memory_terms_docsize;
CREATE TABLE 'memory_terms_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO memory_terms_docsize VALUES(1,X'0710');
INSERT INTO memory_terms_docsize VALUES(2,X'090D');

-- Table  memory_terms_idx
DROP TABLE IF EXISTS memory_terms_idx;
CREATE TABLE 'memory_terms_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO memory_terms_idx VALUES(1,X'',2);
INSERT INTO memory_terms_idx VALUES(2,X'',2);

-- Table  page
DROP TABLE IF EXISTS page;
CREATE TABLE page (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  number INTEGER NOT NULL,
  label TEXT NOT NULL,
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (document, ordinal)
) STRICT, WITHOUT ROWID;

-- Table  question
DROP TABLE IF EXISTS question;
CREATE TABLE question (
  key INTEGER PRIMARY KEY,
  asked INTEGER NOT NULL,         -- seconds
  interface TEXT NOT NULL,        -- cli, python, api, openai, mcp
  persona TEXT NOT NULL,          -- slug; empty: the library
  council TEXT NOT NULL,          -- slug; empty: no meeting
  outcome TEXT NOT NULL,
  confidence REAL NOT NULL,       -- 0 to 1
  conflicts INTEGER NOT NULL,     -- points on which sources disagree
  milliseconds INTEGER NOT NULL,
  model TEXT NOT NULL,            -- empty: none wrote
  cached INTEGER NOT NULL,        -- 1: written earlier
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost REAL,                      -- US dollars; null: not known
  text TEXT                       -- null unless the settings allow it
) STRICT;
INSERT INTO question VALUES(1,1795951258,'cli','','','answer',0.934179,0,1687,'',0,0,0,0.0,NULL);
INSERT INTO question VALUES(2,1795951277,'cli','treasurer','','answer',0.958965,0,1769,'',0,0,0,0.0,NULL);
-- Triggers and indices on  question
CREATE INDEX question_by_time ON question (asked);

-- Table  question_document
DROP TABLE IF EXISTS question_document;
CREATE TABLE question_document (
  question INTEGER NOT NULL REFERENCES question ON DELETE CASCADE,
  document TEXT NOT NULL,         -- its id
  place INTEGER NOT NULL,         -- from 1, the nearest first
  cited INTEGER NOT NULL,         -- 1: the answer cites it
  disagrees INTEGER NOT NULL,     -- 1: with another one
  PRIMARY KEY (question, document)
) STRICT, WITHOUT ROWID;
INSERT INTO question_document VALUES(1,'harbour-043440cb',1,1,0);
INSERT INTO question_document VALUES(2,'budget-04e92304',1,1,0);
-- Triggers and indices on  question_document
CREATE INDEX question_document_by_document ON question_document (document);

-- Table  removal
DROP TABLE IF EXISTS removal;
CREATE TABLE removal (
  document_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

-- Table  removed
DROP TABLE IF EXISTS removed;
CREATE TABLE removed (
  location TEXT PRIMARY KEY,  -- the latest of each place
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  title TEXT NOT NULL,
  format TEXT NOT NULL,
  shelves TEXT NOT NULL,      -- JSON: names
  container TEXT NOT NULL,    -- source of the archive or message that it was in, or empty
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  number INTEGER NOT NULL,    -- of the removal: what was removed together has the same
  removed INTEGER NOT NULL,   -- seconds
  until INTEGER NOT NULL      -- seconds; 0: until it is dropped by hand
) STRICT, WITHOUT ROWID;
-- Triggers and indices on  removed
CREATE INDEX removed_sha256 ON removed (sha256);
CREATE INDEX removed_until ON removed (until);

-- Table  root
DROP TABLE IF EXISTS root;
CREATE TABLE root (
  location TEXT PRIMARY KEY,
  label TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
INSERT INTO root VALUES('/tmp/papers/budget','budget');
INSERT INTO root VALUES('/tmp/papers/home/personas/treasurer/RAG','treasurer');
INSERT INTO root VALUES('/tmp/papers/shelf','shelf');

-- Table  section
DROP TABLE IF EXISTS section;
CREATE TABLE section (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  level INTEGER NOT NULL,
  path TEXT NOT NULL,  -- JSON: titles, outermost first
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (document, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO section VALUES(1,0,1,'["Harbour rules"]',0,89);
INSERT INTO section VALUES(1,1,2,'["Harbour rules","Fees"]',89,171);
INSERT INTO section VALUES(2,0,0,'[]',0,141);
INSERT INTO section VALUES(3,0,1,'["Budget of 2025"]',0,72);

-- Table  setting_change
DROP TABLE IF EXISTS setting_change;
CREATE TABLE setting_change (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL,    -- SECTION.SETTING
  value TEXT,            -- JSON; null: as without it
  changed INTEGER NOT NULL,  -- seconds
  changed_by TEXT NOT NULL
) STRICT;
INSERT INTO setting_change VALUES(1,'answer.words','90',1795951331,'root');
-- Triggers and indices on  setting_change
CREATE INDEX setting_change_by_name ON setting_change (name, key);

-- Table  source
DROP TABLE IF EXISTS source;
CREATE TABLE source (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  location TEXT NOT NULL,
  shelf TEXT NOT NULL,
  include TEXT NOT NULL,  -- JSON: patterns as in .gitignore
  exclude TEXT NOT NULL,  -- JSON: likewise
  maximum_bytes INTEGER NOT NULL,  -- 0: as the settings say
  synced INTEGER NOT NULL,  -- seconds; 0: never
  state TEXT NOT NULL,    -- what its folders looked like from outside then
  problem TEXT NOT NULL
, trust TEXT NOT NULL DEFAULT 'own') STRICT, WITHOUT ROWID;
INSERT INTO source VALUES('persona/treasurer','persona','/tmp/papers/home/personas/treasurer','treasurer','[]','[]',0,1795951270,'38fe292a3ddfd418','','own');
INSERT INTO source VALUES('shelf','folder','/tmp/papers/shelf','library','[]','[]',0,1795951287,'7d0c143a7f791523','','own');

-- For primary key autoincrements the next id to use is stored in
-- sqlite_sequence
DELETE FROM main.sqlite_sequence WHERE name='chunk';
INSERT INTO main.sqlite_sequence VALUES ('chunk', 3);
DELETE FROM main.sqlite_sequence WHERE name='document';
INSERT INTO main.sqlite_sequence VALUES ('document', 3);
DELETE FROM main.sqlite_sequence WHERE name='job';
INSERT INTO main.sqlite_sequence VALUES ('job', 2);
DELETE FROM main.sqlite_sequence WHERE name='memory';
INSERT INTO main.sqlite_sequence VALUES ('memory', 2);

pragma user_version=13;
pragma application_id=1128812626;

COMMIT TRANSACTION;

-- Restoring writable schema back to default
PRAGMA writable_schema=OFF;

-- We need to force SQLite to reread the schema because otherwise it doesn't
-- know that the virtual tables we inserted directly into sqlite_schema exist.
BEGIN;
CREATE TABLE no_such_table(x,y,z);
ROLLBACK;
