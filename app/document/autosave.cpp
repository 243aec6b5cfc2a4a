#include "app/document/autosave.h"

#include "app/document/document.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QUuid>

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
    connect(&timer_, &QTimer::timeout, this, &Autosave::writeNow);
    connect(&document_, &Document::projectChanged, this, [this] {
        if (document_.isModified() && timer_.interval() > 0 && !timer_.isActive()) timer_.start();
    });
    connect(&document_, &Document::modifiedChanged, this, [this](bool modified) {
        if (modified) return;
        forget();
    });
    setInterval(20);
}

Autosave::~Autosave() {
    removeCopy();
    lock_->unlock();
}

void Autosave::setInterval(int seconds) {
    timer_.setInterval(seconds * 1000);
    if (seconds == 0) timer_.stop();
}

void Autosave::writeNow() {
    if (!document_.isModified() || document_.revision() == written_) return;
    waitForWrite();
    written_ = document_.revision();
    // Serialising and syncing stay off the GUI thread; the state is immutable, so it may be read there.
    write_.start([state = document_.state(), origin = document_.file(), copy = copy_](std::stop_token,
                                                                                      Progress&) -> Background::Finish {
        const std::string text =
            (originMark + origin + QLatin1Char('\n')).toStdString() + writeProject(toProject(*state));
        (void)saveFileAtomically(copy.toStdString(), text);
        return {};
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
    QFile::remove(lockOf(recovery.copy));
}

}  // namespace orrery::app
