/* The full check of a key file: every point decoded with its subgroup, and the digests of the whole
 * file. It reads all of it (hours of processor time for the 32 GiB key), so the outcome is kept
 * beside the file as FILE.cuzk.json and holds for as long as size, inode and time of change stay.
 * Whoever can replace the key can replace that note too: it saves time, it is no proof.
 */
#ifndef CUZK_FORMAT_KEY_CHECK_H
#define CUZK_FORMAT_KEY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"
#include "base/threads.h"
#include "cuzk/errors.h"

struct cuzk_key_report {
    struct cuzk_os_identity file;
    char blake2b[33]; /* as the network's list has it: the first 16 bytes of BLAKE2b-512, hex */
    char sha256[65];
    cuzk_status verdict; /* CUZK_OK, or why the file is refused */
    char fault[500];     /* the first fault in words; empty when sound */
};

/* Bytes done of the whole, from the calling thread. Returning false cancels (CUZK_E_CANCELLED). */
typedef bool cuzk_progress(void *context, uint64_t done, uint64_t total);

/* Checks path as a `.params` (vk = false) or `.vk`. A faulty key is CUZK_OK with the fault in the
 * report; an error is what kept the check from its end (not readable, changed meanwhile,
 * cancelled). */
cuzk_status cuzk_key_check(struct cuzk_key_report *out, const char *path, bool vk,
                           struct cuzk_threads *threads, cuzk_progress *progress, void *context,
                           struct cuzk_error *err);

/* The outcome of an earlier check. Recall fails with CUZK_E_NOT_FOUND when there is none or the
 * file is not the one that was checked. */
cuzk_status cuzk_key_remember(const struct cuzk_key_report *report, const char *path,
                              struct cuzk_error *err);
cuzk_status cuzk_key_recall(struct cuzk_key_report *out, const char *path, struct cuzk_error *err);
/* The note itself; `name` is what errors call it. CUZK_E_FORMAT for anything but a whole note. */
cuzk_status cuzk_key_note_parse(struct cuzk_key_report *out, const char *name, const uint8_t *data,
                                size_t size, struct cuzk_error *err);

#endif
