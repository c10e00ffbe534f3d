/*
 * For images: what is on the stack and in the heap. Recursion with MPI at the bottom, jumps, a comparison that asks another
 * rank, lists that grow and shrink.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 10000, ROUNDS = 2, SORTED = 12 };

static int rank, size;

/* The compiler must not make a loop of it. */
static volatile int one = 1;

static int shared_sum(int value) {
    int all;
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int deep(int n, int seed) {
    int here = seed * 31 + n;
    if (n == 0) return shared_sum(seed & 0xff);
    int below = deep(n - one, here);
    /* Calls on the way up as well, from very different depths. */
    if (n % 2500 == 0) below += shared_sum(here & 0xff);
    return below * 3 + (here & 7);
}

/* Both ranks of a pair compare the same numbers in the same order: each asks the other for half of the truth. */
static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b, partner = rank ^ 1, theirs = 0;
    int mine = x - y;
    if (partner < size)
        MPI_Sendrecv(&mine, 1, MPI_INT, partner, 3, &theirs, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else theirs = mine;
    return (x > y) - (x < y) + 0 * theirs;
}

static jmp_buf place;

static void far_away(int n, int token) {
    char local[64];
    memset(local, n, sizeof local);
    if (n > 0) {
        far_away(n - one, token);
        if (local[5] != (char)n) printf("rank %d: a local changed\n", rank);
        return;
    }
    int got = 0;
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 4, &got, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    longjmp(place, got + 1);
}

struct node { struct node *next; int value; char filling[100]; };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct node *list = NULL;
    for (volatile int round = 0; round < ROUNDS; round++) {
        printf("rank %d: deep %d\n", rank, deep(DEPTH, round + 1));
        int numbers[SORTED];
        for (int i = 0; i < SORTED; i++) numbers[i] = (i * 7919 + round * 13) % 101;
        qsort(numbers, SORTED, sizeof numbers[0], compare);
        printf("rank %d: sorted", rank);
        for (int i = 0; i < SORTED; i++) printf(" %d", numbers[i]);
        printf("\n");
        volatile int jumps = 0;
        int came = setjmp(place);
        if (jumps++ < 4) far_away(20, rank * 10 + jumps);
        printf("rank %d: jumped %d times, the last with %d\n", rank, jumps - 1, came);
        for (int i = 0; i < 40; i++) {
            struct node *node = malloc(sizeof *node);
            node->value = round * 100 + i + rank;
            node->next = list;
            list = node;
            if (i % 10 == 0) node->value += shared_sum(i);
        }
        for (struct node **at = &list; *at != NULL;) {
            struct node *node = *at;
            if (node->value % 3 == 0) *at = node->next, free(node);
            else at = &node->next;
        }
        int sum = 0, length = 0;
        for (struct node *node = list; node != NULL; node = node->next) sum = sum * 5 + node->value, length++;
        /* Not all of a line at once: the rest of it is in the C library's buffer, or in the runtime's. */
        printf("rank %d: list", rank);
        fflush(stdout);
        usleep(10 * (rank + 1));
        MPI_Barrier(MPI_COMM_WORLD);
        printf(" of %d, %d\n", length, sum);
    }
    MPI_Finalize();
    return 0;
}
