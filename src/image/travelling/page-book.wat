;; The hashes of a memory's pages, in a memory of their own, eight bytes each: behind 64 bytes for two sets of pages.
;; `hash` is a function of another instance, over the memory of the pages: calls from one module to another need no JavaScript.
(module
  (import "pages" "hash" (func $hash (param i32) (result i64)))
  (import "memory" "memory" (memory 1 65536 shared))

  ;; The first of the pages from $page up to $end that has another hash than the book says; $end: none of them. The book stays as it is.
  (func (export "find") (param $page i32) (param $end i32) (result i32)
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $page) (local.get $end)))
        (br_if $none (i64.ne
          (call $hash (i32.shl (local.get $page) (i32.const 12)))
          (i64.load offset=64 (i32.shl (local.get $page) (i32.const 3)))))
        (local.set $page (i32.add (local.get $page) (i32.const 1)))
        (br $next)))
    (local.get $page))

  ;; Looks at that many pages, beginning with $page, and puts their hashes into the book. Two sets, a bit for each of
  ;; the first 64 pages: at 0 those that are not zero and have another hash than before, at 8 those that are zero and were not.
  (func (export "scan") (param $page i32) (param $pages i32)
    (local $at i32) (local $place i32) (local $end i32) (local $bit i64) (local $hash i64) (local $changed i64) (local $zeroed i64)
    (local.set $at (i32.shl (local.get $page) (i32.const 12)))
    (local.set $place (i32.add (i32.const 64) (i32.shl (local.get $page) (i32.const 3))))
    (local.set $end (i32.add (local.get $place) (i32.shl (local.get $pages) (i32.const 3))))
    (local.set $bit (i64.const 1))
    (block $none
      (loop $next
        (br_if $none (i32.eq (local.get $place) (local.get $end)))
        (local.set $hash (call $hash (local.get $at)))
        (if (i64.ne (local.get $hash) (i64.load (local.get $place)))
          (then
            (i64.store (local.get $place) (local.get $hash))
            (if (i64.eqz (local.get $hash))
              (then (local.set $zeroed (i64.or (local.get $zeroed) (local.get $bit))))
              (else (local.set $changed (i64.or (local.get $changed) (local.get $bit)))))))
        (local.set $bit (i64.shl (local.get $bit) (i64.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 4096)))
        (local.set $place (i32.add (local.get $place) (i32.const 8)))
        (br $next)))
    (i64.store (i32.const 0) (local.get $changed))
    (i64.store (i32.const 8) (local.get $zeroed))))
