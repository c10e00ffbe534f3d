;; The data plane's half in the program's memory: the functions that the program's module calls. plane.wat, the other half, decides;
;; here bytes are copied and statuses written. What the plane does not take goes to the import of the same name.
;;
;; Node 20 has no modules with two memories: bytes cross as parameters and results, 64 at a time. From `bytesMin` bytes on `toNode` and
;; `fromNode` copy: an instruction for two memories where there is one, otherwise functions in JavaScript.
(module
  (import "program" "memory" (memory 1 65536 shared))
  (import "plane" "send"
    (func $send (param v128 i32 i32 i32 i32 i32 i32) (result i32 i32)))
  (import "plane" "leave" (func $leave))
  (import "plane" "receive"
    (func $receive (param i32 i32 i32 i32 i32 i32) (result i32 i32 i32 i32 v128)))
  (import "plane" "release" (func $release))
  (import "plane" "put" (func $put (param i32 v128 v128 v128 v128)))
  (import "plane" "put16" (func $put16 (param i32 v128)))
  (import "plane" "get" (func $get (param i32) (result v128 v128 v128 v128)))
  (import "plane" "get16" (func $get16 (param i32) (result v128)))
  (import "copies" "toNode" (func $toNode (param i32 i32 i32)))
  (import "copies" "fromNode" (func $fromNode (param i32 i32 i32)))
  (import "copies" "bytesMin" (global $copiedMin i32))
  (import "program" "bytes" (global $programBytes i32))
  ;; Nothing has come, and the plane has no patience left. 0: the engine waits; 1: the plane shall look again; 2: the stack of the program is
  ;; about to be unwound, and the call will be made again.
  (import "waits" "wait" (func $wait (result i32)))
  ;; The stack is there again: may the plane wait once more if it finds nothing?
  (import "waits" "rewound" (func $rewound (result i32)))
  (import "engine" "MPI_Send" (func $engineSend (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Recv" (func $engineReceive (param i32 i32 i32 i32 i32 i32 i32) (result i32)))

  ;; The receive in whose wait the stack was unwound is called again when it is put back.
  (global $isUnwound (mut i32) (i32.const 0))

  (func (export "MPI_Send")
    (param $buffer i32) (param $count i32) (param $type i32) (param $dest i32) (param $tag i32) (param $comm i32)
    (result i32)
    (if (i32.eqz
        (call $sendFrom
          (local.get $buffer) (local.get $count) (local.get $type) (local.get $dest) (local.get $tag) (local.get $comm)))
      (then (return (i32.const 0))))
    (call $engineSend
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $dest) (local.get $tag) (local.get $comm)))

  ;; 0: the message has left; −1: the engine must send it. So must it where address 0 is not zero: the program has written through a null
  ;; pointer, which the engine says (abi/crash/low-memory.ts).
  (func $sendFrom (export "sendFrom")
    (param $buffer i32) (param $count i32) (param $type i32) (param $dest i32) (param $tag i32) (param $comm i32)
    (result i32)
    (local $bytes i32) (local $place i32)
    (if (i32.or
        (i64.ne (i64.load (i32.const 0)) (i64.const 0))
        (i32.gt_u (local.get $buffer) (i32.sub (global.get $programBytes) (i32.const 16))))
      (then (return (i32.const -1))))
    (call $send (v128.load (local.get $buffer))
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $dest) (local.get $tag) (local.get $comm))
    (local.set $place)
    (if (i32.lt_s (local.tee $bytes) (i32.const 0)) (then (return (i32.const -1))))
    (if (local.get $place)
      (then
        (call $copyOut (local.get $place) (local.get $buffer) (local.get $bytes))
        (call $leave)))
    (i32.const 0))

  (func (export "MPI_Recv")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $comm i32)
    (param $status i32)
    (result i32)
    (local $answer i32) (local $mayWait i32)
    (local.set $mayWait (i32.const 1))
    (if (global.get $isUnwound)
      (then
        (global.set $isUnwound (i32.const 0))
        (local.set $mayWait (call $rewound))))
    (loop $again
      (local.set $answer
        (call $receiveInto
          (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag) (local.get $comm)
          (local.get $status)))
      (if (i32.eqz (local.get $answer)) (then (return (i32.const 0))))
      (if (i32.and (i32.eq (local.get $answer) (i32.const -2)) (local.get $mayWait))
        (then
          (br_if $again (i32.eq (local.tee $answer (call $wait)) (i32.const 1)))
          (if (i32.eq (local.get $answer) (i32.const 2))
            (then
              (global.set $isUnwound (i32.const 1))
              (return (i32.const 0)))))))
    (call $engineReceive
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag) (local.get $comm)
      (local.get $status)))

  ;; 0: the message is there; −1: the engine must receive it; −2: nothing has come.
  (func $receiveInto (export "receiveInto")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $comm i32)
    (param $status i32)
    (result i32)
    (local $bytes i32) (local $place i32) (local $from i32) (local $under i32) (local $first v128)
    (if (i32.or
        (i64.ne (i64.load (i32.const 0)) (i64.const 0))
        (i32.eqz (call $isStatus (local.get $status))))
      (then (return (i32.const -1))))
    (call $receive
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag) (local.get $comm))
    (local.set $first)
    (local.set $under)
    (local.set $from)
    (local.set $place)
    (if (i32.lt_s (local.tee $bytes) (i32.const 0)) (then (return (local.get $bytes))))
    (if (local.get $place)
      (then
        (call $copyIn (local.get $buffer) (local.get $place) (local.get $bytes))
        (call $release))
      (else
        (if (i32.eq (local.get $bytes) (i32.const 8))
          (then (v128.store64_lane 0 (local.get $buffer) (local.get $first)))
          (else (call $storeFirst (local.get $buffer) (local.get $first) (local.get $bytes))))))
    (call $putStatus (local.get $status) (local.get $from) (local.get $under) (local.get $bytes))
    (i32.const 0))

  ;; A status that is no eight words of the program's memory is the engine's to refuse.
  (func $isStatus (export "isStatus") (param $status i32) (result i32)
    (i32.or
      (i32.eqz (local.get $status))
      (i32.eqz
        (i32.or
          (i32.or (i32.and (local.get $status) (i32.const 3)) (i32.lt_u (local.get $status) (i32.const 1024)))
          (i32.gt_u (local.get $status) (i32.sub (global.get $programBytes) (i32.const 32)))))))

  (func $putStatus (export "putStatus") (param $status i32) (param $from i32) (param $tag i32) (param $bytes i32)
    (if (local.get $status)
      (then
        (i32.store (local.get $status) (local.get $from))
        (i32.store offset=4 (local.get $status) (local.get $tag))
        (i32.store offset=12 (local.get $status) (local.get $bytes))
        (i32.store offset=16 (local.get $status) (i32.const 0)))))

  ;; From the program's memory to a payload; up to 15 bytes more, which nobody reads: payloads have room for whole sixteens.
  (func $copyOut (export "copyOut") (param $to i32) (param $from i32) (param $bytes i32)
    (if (i32.ge_u (local.get $bytes) (global.get $copiedMin))
      (then
        (call $toNode (local.get $to) (local.get $from) (local.get $bytes))
        (return)))
    (loop $next
      (if (i32.ge_s (local.get $bytes) (i32.const 64))
        (then
          (call $put (local.get $to)
            (v128.load (local.get $from))
            (v128.load offset=16 (local.get $from))
            (v128.load offset=32 (local.get $from))
            (v128.load offset=48 (local.get $from)))
          (local.set $to (i32.add (local.get $to) (i32.const 64)))
          (local.set $from (i32.add (local.get $from) (i32.const 64)))
          (local.set $bytes (i32.sub (local.get $bytes) (i32.const 64)))
          (br $next))))
    (loop $next
      (if (i32.gt_s (local.get $bytes) (i32.const 0))
        (then
          (call $put16 (local.get $to) (v128.load (local.get $from)))
          (local.set $to (i32.add (local.get $to) (i32.const 16)))
          (local.set $from (i32.add (local.get $from) (i32.const 16)))
          (local.set $bytes (i32.sub (local.get $bytes) (i32.const 16)))
          (br $next)))))

  ;; From a payload to the program's memory: not a byte more.
  (func $copyIn (export "copyIn") (param $to i32) (param $from i32) (param $bytes i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (if (i32.ge_u (local.get $bytes) (global.get $copiedMin))
      (then
        (call $fromNode (local.get $to) (local.get $from) (local.get $bytes))
        (return)))
    (loop $next
      (if (i32.ge_s (local.get $bytes) (i32.const 64))
        (then
          (call $get (local.get $from))
          (local.set $d)
          (local.set $c)
          (local.set $b)
          (local.set $a)
          (v128.store (local.get $to) (local.get $a))
          (v128.store offset=16 (local.get $to) (local.get $b))
          (v128.store offset=32 (local.get $to) (local.get $c))
          (v128.store offset=48 (local.get $to) (local.get $d))
          (local.set $to (i32.add (local.get $to) (i32.const 64)))
          (local.set $from (i32.add (local.get $from) (i32.const 64)))
          (local.set $bytes (i32.sub (local.get $bytes) (i32.const 64)))
          (br $next))))
    (loop $next
      (if (i32.ge_s (local.get $bytes) (i32.const 16))
        (then
          (v128.store (local.get $to) (call $get16 (local.get $from)))
          (local.set $to (i32.add (local.get $to) (i32.const 16)))
          (local.set $from (i32.add (local.get $from) (i32.const 16)))
          (local.set $bytes (i32.sub (local.get $bytes) (i32.const 16)))
          (br $next))))
    (if (local.get $bytes)
      (then (call $storeFirst (local.get $to) (call $get16 (local.get $from)) (local.get $bytes)))))

  ;; The first `bytes` of 16, 0 to 16.
  (func $storeFirst (export "storeFirst") (param $to i32) (param $value v128) (param $bytes i32)
    (local $rest i64)
    (if (i32.eq (local.get $bytes) (i32.const 16))
      (then
        (v128.store (local.get $to) (local.get $value))
        (return)))
    (local.set $rest (i64x2.extract_lane 0 (local.get $value)))
    (if (i32.ge_u (local.get $bytes) (i32.const 8))
      (then
        (i64.store (local.get $to) (local.get $rest))
        (local.set $rest (i64x2.extract_lane 1 (local.get $value)))
        (local.set $to (i32.add (local.get $to) (i32.const 8)))
        (local.set $bytes (i32.sub (local.get $bytes) (i32.const 8)))))
    (if (i32.and (local.get $bytes) (i32.const 4))
      (then
        (i64.store32 (local.get $to) (local.get $rest))
        (local.set $rest (i64.shr_u (local.get $rest) (i64.const 32)))
        (local.set $to (i32.add (local.get $to) (i32.const 4)))))
    (if (i32.and (local.get $bytes) (i32.const 2))
      (then
        (i64.store16 (local.get $to) (local.get $rest))
        (local.set $rest (i64.shr_u (local.get $rest) (i64.const 16)))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))))
    (if (i32.and (local.get $bytes) (i32.const 1)) (then (i64.store8 (local.get $to) (local.get $rest))))))
