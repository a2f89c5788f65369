CREATE SCHEMA team;

CREATE FUNCTION team.keep_audit() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'team'
    AS $$
     BEGIN
       IF TG_OP = 'DELETE' THEN
         IF old.seq <= (SELECT seq FROM chain WHERE name = 'anchor') THEN RETURN old; END IF;
       END IF;
       RAISE EXCEPTION 'the audit is append-only';
     END $$;

CREATE TABLE team.audit (
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    caller text NOT NULL,
    reason text NOT NULL,
    details text NOT NULL,
    hash text NOT NULL
);

CREATE TABLE team.calls (
    seq bigint NOT NULL,
    id text NOT NULL,
    parent text,
    root text NOT NULL,
    at bigint NOT NULL,
    caller text NOT NULL,
    connection text NOT NULL,
    face text,
    toolkit text,
    tool text NOT NULL,
    digest text,
    outcome text NOT NULL,
    code text,
    ms double precision NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    planner text,
    arguments text,
    result text,
    bucket integer NOT NULL
);

ALTER TABLE team.calls ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME team.calls_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE team.chain (
    name text NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL
);

CREATE TABLE team.counted (
    seq bigint NOT NULL
);

CREATE TABLE team.documents (
    shelf text NOT NULL,
    key text NOT NULL,
    body text NOT NULL,
    expires_at bigint
);

CREATE TABLE team.spans (
    span text NOT NULL,
    start bigint NOT NULL,
    toolkit text NOT NULL,
    tool text NOT NULL,
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    cancelled bigint NOT NULL,
    timeouts bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_out bigint NOT NULL,
    ms double precision NOT NULL,
    histogram bytea NOT NULL
);

CREATE TABLE team.version (
    number integer NOT NULL
);

CREATE TABLE team.writers (
    name text NOT NULL,
    commits bigint NOT NULL,
    at bigint NOT NULL
);

INSERT INTO team.audit VALUES (1, 1795034158225, 'reviewed', 'work', 'user root', 'by command', 'null', 'c2e9edcc8b3eacb27f46b120f0aec15c3a79bfc39778ea6a4fda5dbcec2b063a');
INSERT INTO team.audit VALUES (2, 1795034161117, 'granted', 'work.change', 'user root', 'until it is revoked', 'null', '35176b9d136bad4a7ad300829f8f728e805c65bae942f80a66b10ad8d2b642cf');
INSERT INTO team.audit VALUES (3, 1795034192542, 'destructive call', 'work.change', 'local', 'trusted', '{"call":"call_1LmbST5A2","argumentsHash":"hKkd7jFFnd9GkzpCKI39D_D7KjquLMDm74QTXIzdX3E","client":"t 1"}', '36378b6eb561e745b85c0d3e4f1ec5d958384601cc81285757b72eb8960d4537');
INSERT INTO team.audit VALUES (4, 1795034216682, 'destructive call', 'work.change', 'local', 'trusted', '{"call":"call_1LmbST5A4","argumentsHash":"Dw3iTr9p9NoivHOMcP_Vj9mhD0I_sCFCFe8mZ0ulzZo","client":"t 1"}', '2517b42dcb32a9077791eff0e79d0de9217a48c7ce251eb9aba65d9d1f1aa8ba');

INSERT INTO team.calls OVERRIDING SYSTEM VALUE VALUES (1, 'call_1LmbST5A1', NULL, 'call_1LmbST5A1', 1795034191135, 't 1', 'connection_urUHRDad1', 'agents', 'work', 'work.read', 'hIml3rRUo2A0XHhovKhnLekrRGyvPTsBSvalbj1UnTA', 'ok', NULL, 1098.563306, 10, 66, NULL, NULL, NULL, 161);
INSERT INTO team.calls OVERRIDING SYSTEM VALUE VALUES (2, 'call_1LmbST5A2', NULL, 'call_1LmbST5A2', 1795034192553, 't 1', 'connection_urUHRDad2', 'agents', 'work', 'work.change', 'hKkd7jFFnd9GkzpCKI39D_D7KjquLMDm74QTXIzdX3E', 'ok', NULL, 72.66755199999898, 10, 68, NULL, NULL, NULL, 130);
INSERT INTO team.calls OVERRIDING SYSTEM VALUE VALUES (3, 'call_1LmbST5A3', NULL, 'call_1LmbST5A3', 1795034192671, 't 1', 'connection_urUHRDad3', 'agents', 'work', 'work.read', 'hIml3rRUo2A0XHhovKhnLekrRGyvPTsBSvalbj1UnTA', 'ok', NULL, 11.136169000001246, 10, 66, NULL, NULL, NULL, 108);
INSERT INTO team.calls OVERRIDING SYSTEM VALUE VALUES (4, 'call_1LmbST5A4', NULL, 'call_1LmbST5A4', 1795034216684, 't 1', 'connection_urUHRDad4', 'agents', 'work', 'work.change', 'Dw3iTr9p9NoivHOMcP_Vj9mhD0I_sCFCFe8mZ0ulzZo', 'running', NULL, 0, 13, 0, NULL, NULL, NULL, 0);

INSERT INTO team.chain VALUES ('anchor', 0, '');
INSERT INTO team.chain VALUES ('head', 4, '2517b42dcb32a9077791eff0e79d0de9217a48c7ce251eb9aba65d9d1f1aa8ba');

INSERT INTO team.counted VALUES (0);

INSERT INTO team.version VALUES (1);

INSERT INTO team.writers VALUES ('acd44dd00382f0130382688b', 1, 1795034158176);
INSERT INTO team.writers VALUES ('302ae650df2c4aac0ccf25a5', 1, 1795034158700);
INSERT INTO team.writers VALUES ('d80c3a6547d110a2df9f567d', 1, 1795034161863);
INSERT INTO team.writers VALUES ('8a8a332ed505ee62e59a169e', 5, 1795034216726);

SELECT pg_catalog.setval('team.calls_seq_seq', 4, true);

ALTER TABLE ONLY team.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY team.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY team.chain
    ADD CONSTRAINT chain_pkey PRIMARY KEY (name);

ALTER TABLE ONLY team.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (shelf, key);

ALTER TABLE ONLY team.spans
    ADD CONSTRAINT spans_pkey PRIMARY KEY (span, start, tool);

ALTER TABLE ONLY team.writers
    ADD CONSTRAINT writers_pkey PRIMARY KEY (name);

CREATE INDEX calls_at ON team.calls USING btree (at);

CREATE TRIGGER audit_keeps BEFORE TRUNCATE ON team.audit FOR EACH STATEMENT EXECUTE FUNCTION team.keep_audit();

CREATE TRIGGER audit_stays BEFORE DELETE OR UPDATE ON team.audit FOR EACH ROW EXECUTE FUNCTION team.keep_audit();

