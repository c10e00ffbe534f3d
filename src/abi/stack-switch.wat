;; Stops and goes on with a program whose stack Asyncify unwinds, in one call each: ranks that take turns do so thousands of times before
;; anything of JavaScript is compiled, and every step into WebAssembly costs as much as all of this.
(module
  (import "memory" "memory" (memory 1 65536 shared))
  (import "program" "__stack_pointer" (global $pointer (mut i32)))
  (import "program" "_start" (func $start))
  (import "program" "asyncify_start_unwind" (func $startUnwind (param i32)))
  (import "program" "asyncify_stop_unwind" (func $stopUnwind))
  (import "program" "asyncify_start_rewind" (func $startRewind (param i32)))
  (import "program" "asyncify_get_state" (func $state (result i32)))
  (import "stack" "area" (global $area i32))   ;; where a stack is unwound to
  (import "stack" "bytes" (global $bytes i32)) ;; and how much room there is

  ;; C's own stack pointer of a program that has stopped; 0: it has come to its end.
  (global $was (export "pointer") (mut i32) (i32.const 0))

  ;; The stack begins to be written into the area: its first words say where it is free, and where it ends.
  (func (export "unwind")
    (i32.store (global.get $area) (i32.add (global.get $area) (i32.const 8)))
    (i32.store offset=4 (global.get $area) (i32.add (global.get $area) (global.get $bytes)))
    (call $startUnwind (global.get $area)))

  ;; Starts the program, or puts its stack back from the area and goes on. 1: the program has stopped; 0: it has come to its end.
  (func (export "start") (result i32)
    (call $start)
    (call $stopped))
  (func (export "goOn") (result i32)
    (global.set $pointer (global.get $was))
    (call $startRewind (global.get $area))
    (call $start)
    (call $stopped))

  (func $stopped (result i32)
    (global.set $was (i32.const 0))
    (if (i32.ne (call $state) (i32.const 1)) (then (return (i32.const 0))))
    (call $stopUnwind)
    (global.set $was (global.get $pointer))
    (i32.const 1)))
