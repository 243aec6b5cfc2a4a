// What was made of files is made again when, and only when, one of them was written since.

#include "base/kept_files.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <chrono>
#include <fstream>

using namespace orrery;

namespace {

struct Counted {
    int made = 0;
};

class Files {
public:
    std::string write(const char* name, std::chrono::seconds later = {}) {
        const std::string path = folder_.filePath(QString::fromLatin1(name)).toStdString();
        std::ofstream(path) << name;
        std::filesystem::last_write_time(path, begun_ + later);
        return path;
    }

private:
    QTemporaryDir folder_;
    std::filesystem::file_time_type begun_ = std::filesystem::file_time_type::clock::now();
};

}  // namespace

class TestKeptFiles : public QObject {
    Q_OBJECT
private slots:
    void whatIsMadeStaysWhileEveryFileDoes() {
        Files files;
        const std::string table = files.write("table"), beside = files.write("beside");
        KeptFiles<Counted> kept(2);
        int reads = 0;
        const auto read = [&]() -> Expected<Counted> { return Counted{++reads}; };
        const auto first = kept.get({table, beside}, read);
        QVERIFY(first);
        QCOMPARE((*kept.get({table, beside}, read)).get(), first->get());
        files.write("beside", std::chrono::seconds(5));
        QCOMPARE((*kept.get({table, beside}, read))->made, 2);
        QCOMPARE((*first)->made, 1);
        // Another set of files is another value, an empty path is no file.
        QCOMPARE((*kept.get({table, ""}, read))->made, 3);
        QCOMPARE((*kept.get({table, ""}, read))->made, 3);
    }
    void theOldestIsForgotten() {
        Files files;
        const std::string a = files.write("a"), b = files.write("b"), c = files.write("c");
        KeptFiles<Counted> kept(2);
        int reads = 0;
        const auto read = [&]() -> Expected<Counted> { return Counted{++reads}; };
        for (const std::string& each : {a, b, c, c, b}) QVERIFY(kept.get({each}, read));
        QCOMPARE(reads, 3);
        QVERIFY(kept.get({a}, read));
        QCOMPARE(reads, 4);
    }
    void failuresAndFilesThatAreGoneAreAskedAgain() {
        Files files;
        const std::string path = files.write("file");
        KeptFiles<Counted> kept(2);
        int reads = 0;
        const auto failing = [&]() -> Expected<Counted> {
            ++reads;
            return fail("test.bad", "bad");
        };
        QVERIFY(!kept.get({path}, failing) && !kept.get({path}, failing));
        QCOMPARE(reads, 2);
        const auto read = [&]() -> Expected<Counted> { return Counted{++reads}; };
        QVERIFY(kept.get({path}, read) && kept.get({path}, read));
        QCOMPARE(reads, 3);
        std::filesystem::remove(path);
        QVERIFY(!kept.get({path}, failing));
        QCOMPARE(reads, 4);
    }
};

QTEST_GUILESS_MAIN(TestKeptFiles)
#include "tst_kept_files.moc"
