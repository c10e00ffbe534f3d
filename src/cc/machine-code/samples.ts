/** What is compiled while V8 optimises what clang, the linker and Binaryen use for it (`training.ts`): programs as users write them. */

const inC = `#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, TAG = 7 };
typedef struct { double position[3]; float mass; int kind; char name[16]; } Body;
typedef double (*Law)(const Body *, const Body *);

static unsigned long long state = 88172645463325252ULL;
static double random_number(void) {
  state ^= state << 13; state ^= state >> 7; state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0;
}
static double distance(const Body *a, const Body *b) {
  double sum = 0;
  for (int i = 0; i < 3; i++) { double d = a->position[i] - b->position[i]; sum += d * d; }
  return sqrt(sum + 1e-9);
}
static double attraction(const Body *a, const Body *b) { return a->mass * b->mass / pow(distance(a, b), 2); }
static double spring(const Body *a, const Body *b) { return a->kind == b->kind ? -distance(a, b) : fabs(distance(a, b) - 1); }
static const Law laws[] = { attraction, spring };

static int by_mass(const void *a, const void *b) {
  float x = ((const Body *)a)->mass, y = ((const Body *)b)->mass;
  return (x > y) - (x < y);
}
static double relax(double (*grid)[WIDTH], int rows) {
  double change = 0;
  for (int y = 1; y < rows - 1; y++)
    for (int x = 1; x < WIDTH - 1; x++) {
      double now = 0.25 * (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1]);
      change += (now - grid[y][x]) * (now - grid[y][x]);
      grid[y][x] = now;
    }
  return change;
}
static long collatz(long n) {
  long steps = 0;
  while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; if (++steps > 10000) goto out; }
out:
  return steps;
}
static const char *describe(int value) {
  switch (value % 6) { case 0: return "none"; case 1: return "one"; case 2: case 3: return "few"; case 5: return "many"; default: return "some"; }
}
int main(int argc, char **argv) {
  int rank, size, count = argc > 1 ? atoi(argv[1]) : 32;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Body *bodies = malloc(count * sizeof *bodies);
  double (*grid)[WIDTH] = calloc(WIDTH, sizeof *grid), energy = 0, total = 0;
  if (bodies == NULL || grid == NULL) { fprintf(stderr, "no memory for %d bodies\\n", count); MPI_Abort(MPI_COMM_WORLD, 1); }
  for (int i = 0; i < count; i++) {
    for (int d = 0; d < 3; d++) bodies[i].position[d] = random_number();
    bodies[i].mass = (float)random_number();
    bodies[i].kind = i & 3;
    snprintf(bodies[i].name, sizeof bodies[i].name, "body %d", i);
    memcpy(grid[i % WIDTH], bodies[i].position, sizeof bodies[i].position);
  }
  qsort(bodies, count, sizeof *bodies, by_mass);
  for (int i = 0; i < count; i++) for (int j = 0; j < i; j++) energy += laws[(i ^ j) & 1](&bodies[i], &bodies[j]);
  int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Irecv(grid[0], WIDTH, MPI_DOUBLE, last, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(grid[WIDTH - 2], WIDTH, MPI_DOUBLE, next, TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  while (relax(grid, WIDTH) > 1e-3) { energy *= 0.5; }
  MPI_Allreduce(&energy, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %g of %d ranks, %ld steps, %.3f s\\n", describe(count), total, size, collatz(count + 1), MPI_Wtime());
  free(bodies);
  free(grid);
  MPI_Finalize();
  return strcmp(describe(count), "none") == 0;
}
`;

const inCxx = `#include <mpi.h>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes {
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square final : Shape { double side; explicit Square(double s) : side(s) {} double area() const override { return side * side; } };
template <class T, int N> struct Vector {
  T values[N] = {};
  Vector operator+(const Vector &o) const { Vector r; for (int i = 0; i < N; i++) r.values[i] = values[i] + o.values[i]; return r; }
  T dot(const Vector &o) const { T s{}; for (int i = 0; i < N; i++) s += values[i] * o.values[i]; return s; }
};
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<std::unique_ptr<shapes::Shape>> all;
  std::map<std::string, double> sums;
  for (int i = 0; i < 9; i++) all.push_back(std::make_unique<shapes::Square>(i));
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->area() > b->area(); });
  for (const auto &shape : all) sums["of rank " + std::to_string(rank)] += shape->area();
  shapes::Vector<double, 4> v; v.values[1] = rank;
  for (const auto &[name, sum] : sums) std::cout << name << ": " << sum + (v + v).dot(v) << std::endl;
  MPI_Finalize();
  return 0;
}
`;

interface SampleProgram {
  readonly driver: "cc" | "c++";
  readonly name: string;
  readonly text: string;
  readonly flags: readonly string[];
}

/** The most usual first. */
export const samples: readonly SampleProgram[] = [
  { driver: "cc", name: "sample.c", text: inC, flags: ["-O2"] },
  { driver: "cc", name: "sample.c", text: inC, flags: ["-O0", "-g"] },
  { driver: "c++", name: "sample.cpp", text: inCxx, flags: ["-O2"] },
];
