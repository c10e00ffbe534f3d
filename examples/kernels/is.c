/*
 * IS: the ranks of integer keys, sorted by buckets, ten times over. Little arithmetic; nearly all keys change their rank's
 * memory in every iteration, by one all-to-all of counts and one of keys.
 *
 *     banyan run -n 4 examples/kernels/is.c A        any number of ranks, made for powers of two
 *
 * ("Rank" is the place of a key in the order, and in MPI's sense a process. Here the first is called the place.)
 */
#include "npb.h"

enum { ITERATIONS = 10, TEST_KEYS = 5, BUCKETS_MAX = 1 << 10 };

typedef struct {
    int keys_log2, key_max_log2, buckets_log2;
    /* Where the test keys stand in the sequence, and their places in the order when nothing is changed. */
    int test_index[TEST_KEYS];
    int test_place[TEST_KEYS];
    /* Each iteration changes two keys, which moves the first test keys up and the others down by one each time. */
    int moved_up;
    int up_offset, down_offset;
} problem;

static const problem problems[] = {
    {16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
    {20, 16, 10, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}, 2, -2, 0},
    {23, 19, 10, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264}, 3, -1, 1},
};

typedef struct {
    const npb_run *run;
    const problem *problem;
    int buckets;
    /* A key's bucket is the key without so many of its lowest bits. */
    int bucket_shift;

    /* My part of the sequence, and the index of its first key in the whole. */
    int key_count, key_first;
    int *keys;
    /* The same keys in order of buckets, as they are sent. */
    int *sent_keys;

    /* What came from the others: all keys from `low` up to, not including, `high`. */
    int received_count, received_capacity;
    int *received_keys;
    int low, high;
    /* Keys of all ranks that are below `low`. */
    int lower_keys;
    /* How many received keys are at most low + i. */
    int *at_most;

    /* Arrays with an element for each rank. */
    int *send_counts, *send_starts, *receive_counts, *receive_starts;
    int places_right;
} sorter;

/* One reduction carries both: the sizes of the buckets, and the test keys from whoever has them. */
typedef struct {
    int bucket[BUCKETS_MAX];
    int test_key[TEST_KEYS];
} census;

static int part_start(const sorter *s, int rank) {
    return (int)(((int64_t)rank << s->problem->keys_log2) / s->run->ranks);
}

/* A key is a fourth of the largest times the sum of four random numbers, which makes middling keys frequent. */
static void make_keys(sorter *s) {
    double quarter = ldexp(0.25, s->problem->key_max_log2);
    uint64_t random = npb_random_skip(NPB_SEED, (uint64_t)s->key_first * 4);
    for (int i = 0; i < s->key_count; i++) {
        double sum = npb_random(&random);
        for (int j = 1; j < 4; j++) sum += npb_random(&random);
        s->keys[i] = (int)(quarter * sum);
    }
}

static sorter make_sorter(const npb_run *run, const problem *p) {
    sorter s = {.run = run, .problem = p, .buckets = 1 << p->buckets_log2};
    s.bucket_shift = p->key_max_log2 - p->buckets_log2;
    s.key_first = part_start(&s, run->rank);
    s.key_count = part_start(&s, run->rank + 1) - s.key_first;
    s.keys = npb_allocate(s.key_count, sizeof(int));
    s.sent_keys = npb_allocate(s.key_count, sizeof(int));
    s.at_most = npb_allocate((size_t)1 << p->key_max_log2, sizeof(int));
    int **by_rank[] = {&s.send_counts, &s.send_starts, &s.receive_counts, &s.receive_starts};
    for (int i = 0; i < 4; i++) *by_rank[i] = npb_allocate(run->ranks, sizeof(int));
    make_keys(&s);
    return s;
}

/* So that no iteration can use the result of the one before. */
static void change_keys(sorter *s, int iteration) {
    if (s->run->rank != 0) return;
    s->keys[iteration] = iteration;
    s->keys[iteration + ITERATIONS] = (1 << s->problem->key_max_log2) - iteration;
}

static void count_buckets(const int *restrict keys, int count, int shift, int *restrict bucket) {
    for (int i = 0; i < count; i++) bucket[keys[i] >> shift]++;
}

static census take_census(const sorter *s) {
    census mine = {0};
    count_buckets(s->keys, s->key_count, s->bucket_shift, mine.bucket);
    for (int i = 0; i < TEST_KEYS; i++) {
        int index = s->problem->test_index[i] - s->key_first;
        if (index >= 0 && index < s->key_count) mine.test_key[i] = s->keys[index];
    }
    return mine;
}

static void order_by_bucket(const int *restrict keys, int count, int shift, int *restrict next, int *restrict ordered) {
    for (int i = 0; i < count; i++) ordered[next[keys[i] >> shift]++] = keys[i];
}

/* A bucket goes to the rank that would have its first key if the keys were dealt out evenly in their order. */
static int bucket_owner(const sorter *s, int keys_before) {
    return (int)(((int64_t)keys_before * s->run->ranks) >> s->problem->keys_log2);
}

/* Says how many of my keys go to whom, and which keys will be mine. */
static void split_buckets(sorter *s, const census *mine, const census *all) {
    int me = s->run->rank, before = 0;
    memset(s->send_counts, 0, s->run->ranks * sizeof(int));
    s->low = s->high = s->lower_keys = 0;
    for (int b = 0; b < s->buckets; b++) {
        int owner = all->bucket[b] > 0 ? bucket_owner(s, before) : -1;
        if (owner >= 0) s->send_counts[owner] += mine->bucket[b];
        if (owner == me && s->high == 0) {
            s->low = b << s->bucket_shift;
            s->lower_keys = before;
        }
        if (owner == me) s->high = (b + 1) << s->bucket_shift;
        before += all->bucket[b];
    }
}

static int sum_before(int count, const int *values, int *sums) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sums[i] = sum;
        sum += values[i];
    }
    return sum;
}

static void exchange_keys(sorter *s) {
    int ranks = s->run->ranks;
    MPI_Alltoall(s->send_counts, 1, MPI_INT, s->receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
    sum_before(ranks, s->send_counts, s->send_starts);
    s->received_count = sum_before(ranks, s->receive_counts, s->receive_starts);
    if (s->received_count > s->received_capacity) {
        free(s->received_keys);
        s->received_capacity = s->received_count + s->received_count / 8;
        s->received_keys = npb_allocate(s->received_capacity, sizeof(int));
    }
    MPI_Alltoallv(s->sent_keys, s->send_counts, s->send_starts, MPI_INT, s->received_keys, s->receive_counts,
                  s->receive_starts, MPI_INT, MPI_COMM_WORLD);
}

static void count_at_most(const int *restrict keys, int count, int low, int range, int *restrict at_most) {
    memset(at_most, 0, range * sizeof(int));
    for (int i = 0; i < count; i++) at_most[keys[i] - low]++;
    for (int i = 1; i < range; i++) at_most[i] += at_most[i - 1];
}

/* How many of the published places are right, of the test keys that came to me. */
static int check_places(const sorter *s, const int *test_key, int iteration) {
    const problem *p = s->problem;
    int right = 0;
    for (int i = 0; i < TEST_KEYS; i++) {
        int key = test_key[i];
        if (key < s->low || key >= s->high) continue;
        int place = s->lower_keys + (key > s->low ? s->at_most[key - 1 - s->low] : 0);
        int moved = i < p->moved_up ? iteration + p->up_offset : p->down_offset - iteration;
        right += place == p->test_place[i] + moved;
    }
    return right;
}

static void find_places(sorter *s, int iteration) {
    static census mine, all;
    static int next[BUCKETS_MAX];
    change_keys(s, iteration);
    mine = take_census(s);
    MPI_Allreduce(&mine, &all, sizeof all / sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum_before(s->buckets, mine.bucket, next);
    order_by_bucket(s->keys, s->key_count, s->bucket_shift, next, s->sent_keys);
    split_buckets(s, &mine, &all);
    exchange_keys(s);
    count_at_most(s->received_keys, s->received_count, s->low, s->high - s->low, s->at_most);
    s->places_right += check_places(s, all.test_key, iteration);
}

/* Puts the keys of the last iteration at their places; at_most is used up by it. */
static int *sort_received(sorter *s) {
    int *sorted = npb_allocate(s->received_count, sizeof(int));
    for (int i = 0; i < s->received_count; i++) sorted[--s->at_most[s->received_keys[i] - s->low]] = s->received_keys[i];
    return sorted;
}

/* How many keys stand behind a larger one, on this rank or any before it. */
static int count_disorder(sorter *s) {
    int *sorted = sort_received(s);
    int largest = s->received_count > 0 ? sorted[s->received_count - 1] : -1, before = -1;
    MPI_Exscan(&largest, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (s->run->rank == 0) before = -1;
    int disorder = 0;
    for (int i = 0; i < s->received_count; i++) {
        disorder += sorted[i] < before;
        before = sorted[i];
    }
    free(sorted);
    return disorder;
}

int main(int argc, char **argv) {
    npb_run run = npb_start(&argc, &argv, "IS");
    const problem *p = &problems[run.problem];
    int buckets = 1 << p->buckets_log2;
    if (run.ranks > buckets) npb_refuse(&run, "%d ranks were given, there are %d buckets to share", run.ranks, buckets);
    sorter s = make_sorter(&run, p);

    find_places(&s, 1);
    s.places_right = 0;
    double start = npb_clock_start();
    for (int iteration = 1; iteration <= ITERATIONS; iteration++) find_places(&s, iteration);
    double seconds = MPI_Wtime() - start;

    int mine[] = {s.places_right, count_disorder(&s), s.received_count}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double keys = ldexp(1, p->keys_log2);
    npb_check checks[] = {{"test places right", all[0], ITERATIONS * TEST_KEYS},
                          {"keys out of order", all[1], 0},
                          {"keys", all[2], keys}};
    npb_result result = {.iterations = ITERATIONS,
                         .seconds = seconds,
                         .operations = ITERATIONS * keys,
                         .check_count = 3,
                         .checks = checks};
    snprintf(result.size, sizeof result.size, "2^%d keys", p->keys_log2);
    return npb_finish(&run, &result);
}
