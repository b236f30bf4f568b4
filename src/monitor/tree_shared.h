/* Takes from a tree's sums what its processes share (tree.h says how). For tree.c. */
#ifndef RSSMON_TREE_SHARED_H
#define RSSMON_TREE_SHARED_H

#include "monitor/tree.h"

/* Corrects totals.anon, file, shmem and rss, and sets totals.uncertain. */
void rssmon_tree_correct(struct rssmon_tree *t, int64_t now_ns);

#endif
