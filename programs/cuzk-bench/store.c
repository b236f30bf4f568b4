/* The results file: two tables in SQLite, rows only added. Its schema carries a version in
 * user_version; doc/formats/bench-results.md describes it for those who read it with other tools.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "monitor/text.h"

struct store {
    sqlite3 *db;
};

static const char schema[] =
    "BEGIN;"
    "CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL,"
    " revision TEXT NOT NULL, key_digest TEXT NOT NULL, machine TEXT NOT NULL, kernel TEXT NOT "
    "NULL,"
    " cpu TEXT NOT NULL, cpu_flags TEXT NOT NULL, host TEXT NOT NULL, cores INTEGER NOT NULL,"
    " memory INTEGER NOT NULL, command TEXT NOT NULL, matrix TEXT NOT NULL, proofs INTEGER NOT "
    "NULL,"
    " warmup INTEGER NOT NULL, proofs_per_run INTEGER NOT NULL, tag TEXT NOT NULL);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, experiment INTEGER NOT NULL REFERENCES experiment,"
    " cell TEXT NOT NULL, number INTEGER NOT NULL, finished TEXT NOT NULL DEFAULT "
    "CURRENT_TIMESTAMP,"
    " seconds REAL NOT NULL, peak_rss INTEGER, peak_error INTEGER, cpu_seconds REAL,"
    " exit_code INTEGER NOT NULL, log TEXT NOT NULL, output TEXT,"
    " UNIQUE (experiment, cell, number));"
    "CREATE TRIGGER experiment_kept BEFORE DELETE ON experiment"
    " BEGIN SELECT RAISE(ABORT, 'results are only added'); END;"
    "CREATE TRIGGER run_kept BEFORE DELETE ON run"
    " BEGIN SELECT RAISE(ABORT, 'results are only added'); END;"
    "CREATE TRIGGER run_unchanged BEFORE UPDATE ON run"
    " BEGIN SELECT RAISE(ABORT, 'results are only added'); END;"
    "PRAGMA user_version = 1;"
    "COMMIT;";

static int fail(const struct store *s, const char *what)
{
    return bench_error(BENCH_IO, "%s: %s", what, sqlite3_errmsg(s->db));
}

static int version(struct store *s, int *out)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL);
    if (rc == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        *out = sqlite3_column_int(q, 0);
    else
        rc = SQLITE_ERROR;
    (void)sqlite3_finalize(q);
    return rc == SQLITE_OK ? BENCH_OK : BENCH_IO;
}

int store_open(struct store **out, const char *path, bool create)
{
    *out = NULL;
    if (!create && access(path, F_OK) != 0)
        return bench_error(BENCH_NOT_FOUND, "%s: %s; `cuzk-bench run --db` makes one", path,
                           strerror(errno));
    struct store *s = calloc(1, sizeof *s);
    if (s == NULL)
        return bench_error(BENCH_IO, "out of memory");
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), found = 0;
    int code = BENCH_OK;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK || version(s, &found) != BENCH_OK) {
        code = bench_error(BENCH_IO, "%s: %s", path,
                           s->db != NULL ? sqlite3_errmsg(s->db) : "out of memory");
    } else if (found == 0 && create) {
        if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
            code = fail(s, path);
    } else if (found != 1) {
        code = bench_error(BENCH_IO, "%s: not a results file of this version (%d, expected 1)",
                           path, found);
    }
    if (code == BENCH_OK) {
        (void)sqlite3_busy_timeout(s->db, 10000);
        *out = s;
        return BENCH_OK;
    }
    store_close(s);
    return code;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    (void)sqlite3_close(s->db);
    free(s);
}

static void bind_text(sqlite3_stmt *q, int i, const char *s)
{
    (void)sqlite3_bind_text(q, i, s, -1, SQLITE_TRANSIENT);
}

int store_add_experiment(struct store *s, struct experiment *e)
{
    sqlite3_stmt *q = NULL;
    static const char sql[] =
        "INSERT INTO experiment (name, created, revision, key_digest, machine,"
        " kernel, cpu, cpu_flags, host, cores, memory, command, matrix, proofs,"
        " warmup, proofs_per_run, tag) VALUES (?,datetime('now'),?,?,?,?,?,?,?,"
        "?,?,?,?,?,?,?,?)";
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(s, "storing the experiment");
    const char *texts[] = {e->name,   e->revision, e->key_digest, e->machine,
                           e->kernel, e->cpu,      e->cpu_flags,  e->host};
    for (int i = 0; i < 8; i++)
        bind_text(q, i + 1, texts[i]);
    (void)sqlite3_bind_int64(q, 9, e->cores);
    (void)sqlite3_bind_int64(q, 10, e->memory);
    bind_text(q, 11, e->command);
    bind_text(q, 12, e->matrix);
    (void)sqlite3_bind_int64(q, 13, e->proofs);
    (void)sqlite3_bind_int64(q, 14, e->warmup);
    (void)sqlite3_bind_int64(q, 15, e->proofs_per_run);
    bind_text(q, 16, e->tag);
    int rc = sqlite3_step(q);
    (void)sqlite3_finalize(q);
    if (rc != SQLITE_DONE)
        return fail(s, "storing the experiment");
    e->id = sqlite3_last_insert_rowid(s->db);
    return BENCH_OK;
}

int store_add_result(struct store *s, int64_t experiment, const struct result *r,
                     const char *output)
{
    sqlite3_stmt *q = NULL;
    static const char sql[] = "INSERT INTO run (experiment, cell, number, seconds, peak_rss,"
                              " peak_error, cpu_seconds, exit_code, log, output)"
                              " VALUES (?,?,?,?,?,?,?,?,?,?)";
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(s, "storing a result");
    (void)sqlite3_bind_int64(q, 1, experiment);
    bind_text(q, 2, r->cell);
    (void)sqlite3_bind_int64(q, 3, r->number);
    (void)sqlite3_bind_double(q, 4, r->seconds);
    if (r->peak_rss >= 0)
        (void)sqlite3_bind_int64(q, 5, r->peak_rss);
    if (r->peak_error >= 0)
        (void)sqlite3_bind_int64(q, 6, r->peak_error);
    (void)sqlite3_bind_double(q, 7, r->cpu_seconds);
    (void)sqlite3_bind_int64(q, 8, r->exit_code);
    bind_text(q, 9, r->log);
    if (output != NULL)
        bind_text(q, 10, output);
    int rc = sqlite3_step(q);
    (void)sqlite3_finalize(q);
    return rc == SQLITE_DONE ? BENCH_OK : fail(s, "storing a result");
}

static void column_text(sqlite3_stmt *q, int i, char *out, size_t capacity)
{
    const unsigned char *t = sqlite3_column_text(q, i);
    (void)snprintf(out, capacity, "%s", t != NULL ? (const char *)t : "");
}

#define EXPERIMENT_COLUMNS                                                                         \
    "e.id, e.name, e.created, e.revision, e.key_digest, e.machine, e.kernel, e.cpu, e.cpu_flags,"  \
    " e.host, e.cores, e.memory, e.command, e.matrix, e.proofs, e.warmup, e.proofs_per_run, e.tag"

static void read_experiment(sqlite3_stmt *q, struct experiment *e)
{
    e->id = sqlite3_column_int64(q, 0);
    column_text(q, 1, e->name, sizeof e->name);
    column_text(q, 2, e->created, sizeof e->created);
    column_text(q, 3, e->revision, sizeof e->revision);
    column_text(q, 4, e->key_digest, sizeof e->key_digest);
    column_text(q, 5, e->machine, sizeof e->machine);
    column_text(q, 6, e->kernel, sizeof e->kernel);
    column_text(q, 7, e->cpu, sizeof e->cpu);
    column_text(q, 8, e->cpu_flags, sizeof e->cpu_flags);
    column_text(q, 9, e->host, sizeof e->host);
    e->cores = sqlite3_column_int64(q, 10);
    e->memory = sqlite3_column_int64(q, 11);
    column_text(q, 12, e->command, sizeof e->command);
    column_text(q, 13, e->matrix, sizeof e->matrix);
    e->proofs = sqlite3_column_int64(q, 14);
    e->warmup = sqlite3_column_int64(q, 15);
    e->proofs_per_run = sqlite3_column_int64(q, 16);
    column_text(q, 17, e->tag, sizeof e->tag);
}

int store_find(struct store *s, struct experiment *out, int64_t id, const char *text)
{
    sqlite3_stmt *q = NULL;
    static const char sql[] =
        "SELECT " EXPERIMENT_COLUMNS
        " FROM experiment e WHERE (?1 > 0 AND e.id = ?1) OR (?1 = 0 AND"
        " (?2 IS NULL OR substr(e.name, 1, length(?2)) = ?2 OR e.tag = ?2"
        " OR substr(e.revision, 1, length(?2)) = ?2)) ORDER BY e.id DESC LIMIT 1";
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(s, "reading experiments");
    (void)sqlite3_bind_int64(q, 1, id);
    if (text != NULL)
        bind_text(q, 2, text);
    int rc = sqlite3_step(q);
    *out = (struct experiment){0};
    if (rc == SQLITE_ROW)
        read_experiment(q, out);
    (void)sqlite3_finalize(q);
    if (rc == SQLITE_ROW)
        return BENCH_OK;
    if (rc != SQLITE_DONE)
        return fail(s, "reading experiments");
    return BENCH_NOT_FOUND;
}

int store_pick(struct store *s, struct experiment *out, const char *name)
{
    uint64_t v;
    bool number = name != NULL && rssmon_parse_u64(name, &v) == 0 && v < INT64_MAX;
    int code = store_find(s, out, number ? (int64_t)v : 0, name);
    if (code == BENCH_NOT_FOUND)
        (void)bench_error(code, "no experiment \"%s\"; cuzk-bench list shows them",
                          name != NULL ? name : "");
    return code;
}

int store_each_experiment(struct store *s, experiment_visitor *visit, void *context)
{
    sqlite3_stmt *q = NULL;
    static const char sql[] =
        "SELECT " EXPERIMENT_COLUMNS ", (SELECT count(*) FROM run r WHERE r.experiment = e.id"
        " AND r.number >= 0) FROM experiment e ORDER BY e.id";
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(s, "reading experiments");
    int code = BENCH_OK, rc;
    while (code == BENCH_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct experiment e;
        read_experiment(q, &e);
        code = visit(context, &e, sqlite3_column_int64(q, 18));
    }
    (void)sqlite3_finalize(q);
    return code;
}

int store_each_result(struct store *s, int64_t experiment, result_visitor *visit, void *context)
{
    sqlite3_stmt *q = NULL;
    static const char sql[] = "SELECT cell, number, seconds, ifnull(peak_rss, -1),"
                              " ifnull(peak_error, -1), ifnull(cpu_seconds, 0), exit_code, log"
                              " FROM run WHERE experiment = ? ORDER BY id";
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(s, "reading results");
    (void)sqlite3_bind_int64(q, 1, experiment);
    int code = BENCH_OK, rc = SQLITE_DONE;
    while (code == BENCH_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct result r = {0};
        column_text(q, 0, r.cell, sizeof r.cell);
        r.number = sqlite3_column_int64(q, 1);
        r.seconds = sqlite3_column_double(q, 2);
        r.peak_rss = sqlite3_column_int64(q, 3);
        r.peak_error = sqlite3_column_int64(q, 4);
        r.cpu_seconds = sqlite3_column_double(q, 5);
        r.exit_code = sqlite3_column_int64(q, 6);
        column_text(q, 7, r.log, sizeof r.log);
        code = visit(context, &r);
    }
    if (code == BENCH_OK && rc != SQLITE_DONE)
        code = fail(s, "reading results");
    (void)sqlite3_finalize(q);
    return code;
}
