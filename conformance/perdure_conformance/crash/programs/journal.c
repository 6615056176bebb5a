/* A small journal in C, as an adapter: `journal HOW`, where HOW is `good` or what it does wrong.

   One file holds all runs, a line for each batch: checksum, run, expected sequence, number of records, and the records
   as they came. What is behind the last whole line is cut off when it opens. It looks for what it needs in a request and reads no other JSON: quotes within strings are escaped. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *how;
static char path[4096], *content, *line;
static size_t size, room;
static int log_file, is_unsynced;

static int is(const char *what) { return strcmp(how, what) == 0; }

/* The text behind `"name":`, without a quote that it begins with; it ends at one of `ends`. */
static char *member(const char *name, const char *ends) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    char *start = strstr(line, key);
    if (start == NULL) return NULL;
    start += strlen(key) + (start[strlen(key)] == '"');
    return strndup(start, strcspn(start, ends));
}

static void keep(const char *bytes, size_t count) {
    content = realloc(content, size + count + 1);
    memcpy(content + size, bytes, count);
    size += count;
    content[size] = 0;
}

/* FNV-1a. */
static uint32_t checksum(const char *bytes, size_t count) {
    uint32_t sum = 2166136261u;
    while (count-- > 0) sum = (sum ^ (unsigned char)*bytes++) * 16777619u;
    return sum;
}

/* Where the last whole line ends. */
static size_t whole_lines(void) {
    size_t at = 0;
    for (char *end; (end = memchr(content + at, '\n', size - at)) != NULL; at = (size_t)(end - content) + 1) {
        char *rest = content + at + 9, *after;
        if (rest >= end || strtoul(content + at, &after, 16) != checksum(rest, (size_t)(end - rest))) break;
    }
    return at;
}

static void sync_file(void) {
    if (!is("no-fsync") && fdatasync(log_file) != 0 && !is("ignores-errors") && !is("ignores-errors-of-syncs")) exit(3);
}

static void open_state(const char *directory) {
    char part[65536];
    ssize_t count;
    snprintf(path, sizeof path, "%s/log", directory);
    log_file = open(path, O_RDWR | O_CREAT, 0666);
    size = 0;
    keep("", 0);
    while ((count = pread(log_file, part, sizeof part, (off_t)size)) > 0) keep(part, (size_t)count);
    if (log_file < 0 || count < 0) exit(3);
    size_t whole = whole_lines();
    if (whole < size) {
        if (is("cuts-too-much")) whole = 0;
        if (ftruncate(log_file, (off_t)whole) != 0) exit(3);
        content[size = whole] = 0;
    }
    sync_file();
    int folder = open(directory, O_RDONLY | O_DIRECTORY);
    if (folder < 0 || (!is("no-directory-sync") && fsync(folder) != 0)) exit(3);
    close(folder);
}

/* 0 if all of it is there, −1 if none of it is. */
static int put(const char *bytes, size_t count) {
    size_t written = 0;
    if (is("writes-in-place")) {
        keep(bytes, count);
        if (ftruncate(log_file, 0) != 0 || pwrite(log_file, content, size, 0) < 0) exit(3);
        return 0;
    }
    while (written < count) {
        ssize_t done = pwrite(log_file, bytes + written, count - written, (off_t)(size + written));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && is("ignores-errors")) break;
        if (done < 0) {
            if (ftruncate(log_file, (off_t)size) != 0) exit(3);
            return -1;
        }
        written += is("ignores-short-writes") ? count : (size_t)done;
    }
    is_unsynced = is("acknowledges-before-the-sync");
    if (!is_unsynced) sync_file();
    keep(bytes, count);
    return 0;
}

/* Write the records of a run, or `NULL`; return its next sequence. */
static long walk(const char *run, FILE *out) {
    long next = 1, first, count;
    char name[64];
    int records, before = 0;
    for (char *at = content; *at != 0; at = strchr(at, '\n') + 1) {
        if (sscanf(at, "%*8x %63s %ld %ld %n", name, &first, &count, &records) != 3) exit(3);
        if (strcmp(name, run) != 0) continue;
        next = first + count;
        if (out != NULL)
            fprintf(out, "%s%.*s", before++ ? "," : "", (int)(strchr(at, '\n') - at - records - 2), at + records + 1);
    }
    return next;
}

static void acknowledge(FILE *out, const char *records) {
    fprintf(out, "{\"acknowledged\":[");
    for (const char *at = records, *comma = ""; (at = strstr(at, "{\"sequence\":")) != NULL; at++, comma = ",")
        fprintf(out, "%s%.*s}", comma, (int)(strstr(at, ",\"body\"") - at), at);
    fprintf(out, "]}");
}

static void append(FILE *out) {
    char *run = member("run_id", "\""), *batch, *records = strstr(line, "\"records\":[") + strlen("\"records\":");
    long expected = atol(member("expected_next", ",")), next = walk(run, NULL), count = 0;
    records = strndup(records, strlen(records) - 3); /* Without what ends the request. */
    for (char *at = records; (at = strstr(at, "{\"sequence\":")) != NULL; at++) count++;
    char *text = NULL;
    int length = asprintf(&text, "%s %ld %ld %s", run, expected, count, records);
    length = asprintf(&batch, "%08x %s\n", checksum(text, (size_t)length), text);
    if (strstr(content, batch) != NULL) {
        acknowledge(out, records);
    } else if (expected != next) {
        fprintf(out, "{\"refused\":\"sequence_conflict\",\"actual_next\":%ld}", next);
    } else if (put(batch, (size_t)length) != 0) {
        fprintf(out, "{\"refused\":\"not_stored\"}");
    } else {
        acknowledge(out, records);
    }
}

static void answer(const char *method, FILE *out) {
    if (strcmp(method, "append") == 0) {
        append(out);
    } else if (strcmp(method, "load") == 0) {
        fprintf(out, "{\"records\":[");
        walk(member("run_id", "\""), out);
        fprintf(out, "],\"end\":true}");
    } else if (strcmp(method, "initialize") == 0) {
        open_state(member("state_dir", "\""));
        fprintf(out, "{\"protocol\":1,\"name\":\"in-c\",\"version\":\"1\",\"capabilities\":{\"exact_replay\":true,"
                     "\"atomic_batch\":true,\"durable\":\"posix-weak\"},\"limits\":{\"max_batch_records\":1000,"
                     "\"max_batch_bytes\":1048576,\"max_snapshot_bytes\":1048576}}");
    } else {
        close(log_file);
        if (strcmp(method, "recover") == 0) open_state(member("path", "\""));
        fprintf(out, "{}");
    }
}

int main(int count, char **words) {
    how = count > 1 ? words[1] : "good";
    while (getline(&line, &room, stdin) > 0) {
        char *said = NULL, *method = member("method", "\"");
        if (is_unsynced) sync_file(); /* What was acknowledged, before the next request. */
        is_unsynced = 0;
        size_t length = 0;
        FILE *out = open_memstream(&said, &length);
        fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":", member("id", "\""));
        answer(method, out);
        fprintf(out, "}\n");
        fclose(out);
        if (write(STDOUT_FILENO, said, length) != (ssize_t)length || strcmp(method, "shutdown") == 0) return 0;
    }
    return 0;
}
