#include "app/document/autosave.h"

#include "app/document/document.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QUuid>

#include <utility>

namespace orrery::app {

namespace {

// The first line of a copy is a YAML comment, so that the copy is an ordinary project file too.
const QString originMark = QStringLiteral("# autosave of: ");

QString lockOf(const QString& copy) {
    return copy + QStringLiteral(".lock");
}

}  // namespace

Autosave::Autosave(Document& document, QString folder, QObject* parent)
    : QObject(parent), document_(document), folder_(std::move(folder)) {
    QDir().mkpath(folder_);
    copy_ = folder_ + QLatin1Char('/') + QUuid::createUuid().toString(QUuid::WithoutBraces) + QStringLiteral(".yaml");
    lock_ = std::make_unique<QLockFile>(lockOf(copy_));
    lock_->setStaleLockTime(0);
    lock_->tryLock(0);
    timer_.setSingleShot(true);
    timer_.setInterval(delay);
    connect(&timer_, &QTimer::timeout, this, &Autosave::writeWhenFree);
    // Whether the project counts as modified is not asked before the write: of the first edit it is told later.
    connect(&document_, &Document::projectChanged, this, [this] {
        if (enabled_ && !timer_.isActive()) timer_.start();
    });
    connect(&document_, &Document::modifiedChanged, this, [this](bool modified) {
        if (modified) return;
        forget();
    });
}

Autosave::~Autosave() {
    removeCopy();
    lock_->unlock();
}

void Autosave::setEnabled(bool enabled) {
    if (enabled_ == enabled) return;
    enabled_ = enabled;
    enabled ? timer_.start() : timer_.stop();
}

void Autosave::writeWhenFree() {
    due_ = write_.isRunning();  // a slow disk holds nobody up
    if (!due_) writeNow();
}

void Autosave::writeNow() {
    if (!document_.isModified() || document_.revision() == written_) return;
    waitForWrite();
    written_ = document_.revision();
    // Serialising and syncing stay off the GUI thread; the state is immutable, so it may be read there.
    write_.ask(
        [state = document_.state(), origin = document_.file(), copy = copy_](std::stop_token, Progress&) {
            const std::string text =
                (originMark + origin + QLatin1Char('\n')).toStdString() + writeProject(toProject(*state));
            return saveFileAtomically(copy.toStdString(), text);
        },
        [this](Expected<void> saved) {
            if (!saved) written_ = 0;  // the next edit tries again
            if (!saved && !refused_) emit failed(saved.error());
            refused_ = !saved;
            if (std::exchange(due_, false)) writeNow();
        });
}

void Autosave::waitForWrite() {
    write_.wait();
}

void Autosave::forget() {
    timer_.stop();
    removeCopy();
    written_ = document_.revision();
}

void Autosave::removeCopy() {
    due_ = false;
    waitForWrite();
    QFile::remove(copy_);
}

std::vector<Recovery> Autosave::abandoned(const QString& folder) {
    std::vector<Recovery> found;
    const QFileInfoList copies = QDir(folder).entryInfoList({QStringLiteral("*.yaml")}, QDir::Files, QDir::Time);
    for (const QFileInfo& info : copies) {
        // With no stale time a lock is taken over only if its process is gone.
        QLockFile lock(lockOf(info.filePath()));
        lock.setStaleLockTime(0);
        if (!lock.tryLock(0)) continue;
        lock.unlock();
        QFile file(info.filePath());
        if (!file.open(QIODevice::ReadOnly)) continue;
        const QString first = QString::fromUtf8(file.readLine()).trimmed();
        Recovery recovery{info.filePath(), {}, QLocale().toString(info.lastModified(), QLocale::ShortFormat)};
        if (first.startsWith(originMark.trimmed())) recovery.original = first.mid(originMark.size() - 1).trimmed();
        found.push_back(recovery);
    }
    return found;
}

void Autosave::discard(const Recovery& recovery) {
    QFile::remove(recovery.copy);
    // What a write had begun when its studio was killed.
    const QFileInfo copy(recovery.copy);
    QDir folder = copy.dir();
    const QStringList begun{QLatin1Char('.') + copy.fileName() + QStringLiteral(".*.new")};
    for (const QString& part : folder.entryList(begun, QDir::Files | QDir::Hidden)) folder.remove(part);
    QFile::remove(lockOf(recovery.copy));
}

}  // namespace orrery::app
