#pragma once

#include <QIcon>
#include <QPixmap>
#include <QStringList>
#include <QWidget>

#include <vector>

class QGridLayout;
class QScrollArea;
class QVBoxLayout;

namespace orrery::ui {

struct ExampleCard {
    QString id, title, description;
    QPixmap picture;  ///< null: a small roofline is painted
    QString file;
};

struct RecentProject {
    QString file;
    QString title;   ///< empty: the file's name
    QString detail;  ///< `H100 SXM · Llama-2 7B`; may be empty
    bool exists = true;
};

/// The first thing that people see: examples with pictures, recent projects, a blank sheet. Files may be dropped
/// anywhere on it.
class WelcomePage : public QWidget {
    Q_OBJECT
public:
    explicit WelcomePage(QWidget* parent = nullptr);
    void setExamples(const std::vector<ExampleCard>& examples);
    void setRecent(const std::vector<RecentProject>& recent);

signals:
    void exampleChosen(const QString& id);
    void openRequested();
    void recentChosen(const QString& file);
    void newRequested();
    void lessonsRequested();
    void filesDropped(const QStringList& files);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QScrollArea* scroll_;
    QWidget* content_;
    QWidget* left_;
    QWidget* right_;
    QGridLayout* columns_;
    class Gallery* gallery_;
    QVBoxLayout* recentList_;
    bool stacked_ = false;
    bool dropping_ = false;
};

}  // namespace orrery::ui
