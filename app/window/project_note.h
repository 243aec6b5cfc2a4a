#pragma once

#include <QWidget>

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class Document;

/// What the project says of itself: an example's instruction stays in sight while one follows it. Closed, it stays away
/// until a project is opened; a project that says nothing shows nothing.
class ProjectNote : public QWidget {
    Q_OBJECT
public:
    explicit ProjectNote(const Document& document, QWidget* parent = nullptr);
    void setWanted(bool wanted);

signals:
    void wantedChanged(bool wanted);  ///< closed, or back with another project

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    const Document& document_;
    ui::Label* words_;
    bool wanted_ = true;
};

}  // namespace orrery::app
