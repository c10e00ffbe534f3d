/* `int main(int argc, char **argv, char **envp)`, which clang leaves its name; or no `main` at all, and the linker says so. */
#include <unistd.h>

extern char **environ;
int banyan_main(int argc, char **argv, char **envp) __asm__("main");

int __main_argc_argv(int argc, char **argv) { return banyan_main(argc, argv, environ); }
