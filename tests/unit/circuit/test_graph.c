/* Parents in the stacked graph, held to the network's at every size and for both versions. */
#include "unit/vectors.h"

#include "circuit/porep_graph.h"

static uint32_t number_at(yajl_val array, size_t i)
{
    assert_true(YAJL_IS_INTEGER(array->u.array.values[i]));
    return (uint32_t)YAJL_GET_INTEGER(array->u.array.values[i]);
}

static void test_parents(void **state)
{
    (void)state;
    yajl_val all = vector_json("statements/parents.json.zst");
    size_t graphs = all->u.array.len, nodes = 0;
    assert_int_equal(graphs, 6);
    for (size_t g = 0; g < graphs; g++) {
        yajl_val entry = all->u.array.values[g];
        const struct cuzk_porep_params *params =
            cuzk_porep_by_registered(vector_text(entry, "registered_proof"));
        assert_non_null(params);
        assert_int_equal(params->nodes, YAJL_GET_INTEGER(vector_get(entry, "nodes")));
        uint8_t porep_id[32];
        vector_hex(porep_id, 32, vector_text(entry, "porep_id"));
        assert_memory_equal(porep_id, params->porep_id, 32);

        struct cuzk_error err;
        struct cuzk_porep_graph graph;
        assert_ok(cuzk_porep_graph_init(&graph, params, &err), err);
        yajl_val list = vector_get(entry, "parents");
        for (size_t i = 0; i < list->u.array.len; i++, nodes++) {
            yajl_val item = list->u.array.values[i];
            uint32_t node = (uint32_t)YAJL_GET_INTEGER(vector_get(item, "node"));
            uint32_t parents[CUZK_POREP_PARENTS];
            assert_ok(cuzk_porep_parents(parents, &graph, node, &err), err);
            yajl_val drg = vector_get(item, "drg"), exp = vector_get(item, "exp");
            assert_int_equal(drg->u.array.len, CUZK_POREP_DRG);
            assert_int_equal(exp->u.array.len, CUZK_POREP_EXP);
            for (size_t j = 0; j < CUZK_POREP_PARENTS; j++) {
                uint32_t expected =
                    j < CUZK_POREP_DRG ? number_at(drg, j) : number_at(exp, j - CUZK_POREP_DRG);
                if (parents[j] != expected)
                    fail_msg("%s: parent %zu of node %u is %u, not %u", params->registered, j, node,
                             parents[j], expected);
            }
        }
        cuzk_porep_graph_clear(&graph);
    }
    assert_true(nodes >= 6 * 32);
    yajl_tree_free(all);
}

/* What the construction promises of every node of a small graph. */
static void test_shape(void **state)
{
    (void)state;
    struct cuzk_error err;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit("porep-2KiB");
    struct cuzk_porep_graph graph;
    assert_ok(cuzk_porep_graph_init(&graph, params, &err), err);
    unsigned as_expander[64] = {0};
    for (uint32_t node = 0; node < params->nodes; node++) {
        uint32_t parents[CUZK_POREP_PARENTS];
        assert_ok(cuzk_porep_parents(parents, &graph, node, &err), err);
        for (int i = 0; i < CUZK_POREP_DRG; i++)
            assert_true(parents[i] < node || node == 0);
        for (int i = CUZK_POREP_DRG; i < CUZK_POREP_PARENTS; i++) {
            assert_true(parents[i] < params->nodes);
            as_expander[parents[i]]++;
        }
    }
    /* a permutation of (node, i): each node is taken eight times */
    for (uint32_t node = 0; node < params->nodes; node++)
        assert_int_equal(as_expander[node], CUZK_POREP_EXP);
    cuzk_porep_graph_clear(&graph);
}

static void test_table(void **state)
{
    (void)state;
    size_t count;
    const struct cuzk_porep_params *table = cuzk_porep_table(&count);
    assert_int_equal(count, 21);
    for (size_t i = 0; i < count; i++) {
        const struct cuzk_porep_params *p = &table[i];
        uint64_t leaves = 1, leaves_d = UINT64_C(1) << p->data_levels;
        for (uint32_t level = 0; level < cuzk_porep_levels(p); level++)
            leaves *= cuzk_porep_arity(p, level);
        assert_int_equal(leaves, p->nodes);
        assert_int_equal(leaves_d, p->nodes);
        assert_int_equal(p->sector_size, 32 * (uint64_t)p->nodes);
        assert_true(p->challenges <= CUZK_POREP_MAX_CHALLENGES);
        assert_true(p->layers <= CUZK_POREP_MAX_LAYERS);
        assert_int_equal(p->porep_id[0], p->number);
        if (i < 20) {
            assert_int_equal(p->number, i);
            assert_ptr_equal(cuzk_porep_by_registered(p->registered), p);
        }
        uint8_t digits[CUZK_POREP_MAX_LEVELS];
        uint32_t node = p->nodes - p->nodes / 3, back = 0, weight = 1;
        cuzk_porep_digits(digits, p, node);
        for (uint32_t level = 0; level < cuzk_porep_levels(p); level++) {
            back += digits[level] * weight;
            weight *= cuzk_porep_arity(p, level);
        }
        assert_int_equal(back, node);
    }
    assert_int_equal(cuzk_porep_inputs(cuzk_porep_by_circuit("porep-32GiB")), 327);
    assert_int_equal(cuzk_porep_by_circuit("porep-mini32")->nodes, 512);
    assert_string_equal(cuzk_porep_by_circuit("porep-64GiB")->registered, "StackedDrg64GiBV1_1");
    assert_int_equal(cuzk_porep_by_registered("StackedDrg32GiBV1_1")->partitions, 10);
    assert_null(cuzk_porep_by_registered("StackedDrg4KiBV1"));
    assert_null(cuzk_porep_by_circuit("porep-4KiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_parents),
        cmocka_unit_test(test_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
