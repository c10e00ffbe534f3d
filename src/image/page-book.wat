;; Books of the hashes of pages, eight bytes each, in a memory of ours: beside those of one memory's pages (travelling/page-book.ts) or of several images (page-stage.ts).
;; `hash` is a function of another instance, over the memory of the pages: calls from one module to another need no JavaScript.
(module
  (import "pages" "hash" (func $hash (param i32) (result i64)))
  (import "memory" "memory" (memory 1 65536 shared))

  ;; The first of the pages from $page up to $end that has another hash than the book says, which begins at 64; $end: none of them. The book stays as it is.
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

  ;; Looks at that many pages, beginning at the address $at, and puts their hashes into the book at $place. Three sets go to $sets, a bit for each of the
  ;; first 64 pages: those that are not zero; those of them that have another hash than before; and those that are zero and were not.
  (func (export "scan") (param $at i32) (param $pages i32) (param $place i32) (param $sets i32)
    (local $end i32) (local $bit i64) (local $hash i64) (local $present i64) (local $changed i64) (local $zeroed i64)
    (local.set $end (i32.add (local.get $place) (i32.shl (local.get $pages) (i32.const 3))))
    (local.set $bit (i64.const 1))
    (block $none
      (loop $next
        (br_if $none (i32.eq (local.get $place) (local.get $end)))
        (local.set $hash (call $hash (local.get $at)))
        (if (i64.ne (local.get $hash) (i64.const 0))
          (then (local.set $present (i64.or (local.get $present) (local.get $bit)))))
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
    (i64.store (local.get $sets) (local.get $present))
    (i64.store offset=8 (local.get $sets) (local.get $changed))
    (i64.store offset=16 (local.get $sets) (local.get $zeroed))))
