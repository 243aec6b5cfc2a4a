#include "store/project/project.h"

#include <QDir>
#include <QtTest/QtTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace orrery;

namespace {

// Runs in a process of its own what would spoil this one (a user, a limit); true if it returned true.
template <class Body>
bool inChild(Body body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

QString contentOf(const std::string& path) {
    return QString::fromStdString(readFile(path).value_or("(unreadable)"));
}

}  // namespace

class TestStoreFiles : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
    QStringList everything() const {
        return QDir(folder_.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot);
    }

private slots:
    void cleanup() {
        ::chmod(folder_.path().toUtf8(), 0755);
        for (const QString& name : everything())
            QVERIFY(QFile::remove(folder_.filePath(name)) || QDir(folder_.filePath(name)).removeRecursively());
    }
    void theNewContentReplacesTheOldAndNothingElseIsLeft() {
        QVERIFY(saveFileAtomically(path("a"), "old"));
        QVERIFY(saveFileAtomically(path("a"), "new"));
        QCOMPARE(contentOf(path("a")), "new");
        QCOMPARE(everything(), QStringList{"a"});
    }
    void permissionsOfAFileAreKeptAndOfANewOneFollowTheUmask() {
        QVERIFY(saveFileAtomically(path("a"), "x"));
        struct stat info {};
        const mode_t mask = ::umask(0);
        ::umask(mask);
        QCOMPARE(::stat(path("a").c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, 0666 & ~mask);
        QCOMPARE(::chmod(path("a").c_str(), 0640), 0);
        QVERIFY(saveFileAtomically(path("a"), "y"));
        QCOMPARE(::stat(path("a").c_str(), &info), 0);
        QCOMPARE(info.st_mode & 07777, mode_t{0640});
    }
    void aLinkStaysALink() {
        QVERIFY(saveFileAtomically(path("target"), "old"));
        QCOMPARE(::symlink("target", path("link").c_str()), 0);
        QVERIFY(saveFileAtomically(path("link"), "new"));
        QCOMPARE(contentOf(path("target")), "new");
        QVERIFY(QFileInfo(folder_.filePath("link")).isSymLink());
    }
    void whatCannotBeWrittenSaysWhy() {
        const auto missing = saveFileAtomically(path("no/such/folder"), "x");
        QVERIFY(!missing && missing.error().message.find("No such file") != std::string::npos);
        QVERIFY(!missing.error().hint.empty());
        const auto folder = saveFileAtomically(folder_.path().toStdString(), "x");
        QVERIFY(!folder && folder.error().message.find("directory") != std::string::npos);
        QVERIFY(!saveFileAtomically("", "x"));
        QVERIFY(!saveFileAtomically(path(std::string(300, 'n').c_str()), "x"));
    }
    void aFolderThatMayNotBeWrittenIsReported() {
        QVERIFY(saveFileAtomically(path("a"), "old"));
        ::chmod(folder_.path().toUtf8(), 0555);
        const std::string file = path("a");
        const bool reported = inChild([&] {
            if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return false;
            const auto saved = saveFileAtomically(file, "new");
            return !saved && saved.error().message.find("Permission denied") != std::string::npos &&
                   !saved.error().hint.empty();
        });
        QVERIFY(reported);
        QCOMPARE(contentOf(file), "old");
    }
    void aWriteThatFailsHalfWayLeavesTheOldFile() {
        QVERIFY(saveFileAtomically(path("a"), "old"));
        const std::string file = path("a");
        const bool reported = inChild([&] {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{4096, 4096};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return !saveFileAtomically(file, std::string(1 << 20, 'x'));
        });
        QVERIFY(reported);
        QCOMPARE(contentOf(file), "old");
        QCOMPARE(everything(), QStringList{"a"});
    }
    void whatIsNoFileIsWrittenIntoAndNeverReplaced() {
        const std::string pipe = path("pipe");
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        const auto unread = saveFileAtomically(pipe, "nobody reads");
        QVERIFY(!unread && !unread.error().message.empty());
        const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
        QVERIFY(reader >= 0);
        QVERIFY(saveFileAtomically(pipe, "12345"));
        char seen[8]{};
        QCOMPARE(::read(reader, seen, sizeof seen), 5);
        QCOMPARE(::close(reader), 0);
        QCOMPARE(QByteArray(seen), "12345");
        struct stat after {};
        QVERIFY(::stat(pipe.c_str(), &after) == 0 && S_ISFIFO(after.st_mode));
        QCOMPARE(everything(), QStringList{"pipe"});
    }
    void readingRefusesWhatIsNoFileOrTooLarge() {
        QVERIFY(!readFile(folder_.path().toStdString()));
        QVERIFY(!readFile("/dev/zero"));
        QVERIFY(!readFile(path("nothing")));
        QVERIFY(saveFileAtomically(path("a"), "12345"));
        QVERIFY(!readFile(path("a"), 4));
        QVERIFY(readFile(path("a"), 5));
        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        QVERIFY(!readFile(path("pipe")));
    }
};

QTEST_GUILESS_MAIN(TestStoreFiles)
#include "tst_store_files.moc"
