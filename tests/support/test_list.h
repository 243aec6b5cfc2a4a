#pragma once

// One program holds the test classes of one area, and ctest runs each by itself: `orrery-tests-serving
// tst_serving_laws`. This header stands before every test (it is in their precompiled header) and gives QTEST_MAIN and
// its kin another meaning: the class joins the program's list under the name of its file. What application the class
// asks for is made when it runs, as before.

#include <QtTest/QtTest>

namespace orrery::test {

using TestRun = int (*)(int argc, char** argv);

/// Adds a class to the list of this program. `file` is the path of its source.
bool enlist(const char* file, TestRun run);

}  // namespace orrery::test

#undef QTEST_MAIN_WRAPPER
#define QTEST_MAIN_WRAPPER(TestObject, ...)                                \
    static int run##TestObject(int argc, char** argv) {                    \
        QT_PREPEND_NAMESPACE(QTest::Internal::callInitMain)<TestObject>(); \
        __VA_ARGS__                                                        \
        TestObject tc;                                                     \
        QTEST_SET_MAIN_SOURCE_PATH                                         \
        return QTest::qExec(&tc, argc, argv);                              \
    }                                                                      \
    static const bool listed##TestObject = orrery::test::enlist(__FILE__, run##TestObject);
